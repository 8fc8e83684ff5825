"""The number of CPUs that this process may use, and the number of threads that the user asks for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from trainwright_api.problems import Mistakes
from trainwright_trainer.runtime import cgroups

VARIABLE = "OMP_NUM_THREADS"
MOST_THREADS = 1024
"""More than any machine has use for. Libraries fail on larger numbers without a message."""


def usable_cpus(reserved: float | None = None, root: Path = Path("/")) -> int:
    """The minimum of the CPU affinity, the quotas of the cgroups, and `reserved`, rounded down, at least 1."""
    limits = [len(os.sched_getaffinity(0)), *_quotas(root), *([] if reserved is None else [reserved])]
    return max(1, int(min(limits)))


def asked_threads(environment: Mapping[str, str]) -> int | None:
    """The first number in OMP_NUM_THREADS, which has one for each level of nested parallelism. Raises `Mistakes`."""
    text = environment.get(VARIABLE, "").partition(",")[0].strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and 0 < int(text) <= MOST_THREADS):
        expected = f"expected a whole number, from 1 to {MOST_THREADS:,}"
        raise Mistakes.one(VARIABLE, f"{expected}, found {environment[VARIABLE]!r}")
    return int(text)


def first_environment(file: Path = Path("/proc/self/environ")) -> dict[str, str]:
    """The environment at the start of this process, without later changes."""
    pairs = (entry.partition("=") for entry in file.read_bytes().decode(errors="replace").split("\0") if entry)
    return {name: value for name, _, value in pairs}


def _quotas(root: Path) -> Iterator[float]:
    """The quotas, in CPUs, of this process's cgroups and of their ancestors."""
    quotas = map(_quota, cgroups.folders("cpu", root))
    return (quota for quota in quotas if quota is not None)


def _quota(folder: Path) -> float | None:
    """The quota of one cgroup in CPUs, or None without a limit."""
    try:
        if (folder / "cpu.max").exists():
            quota, period = (folder / "cpu.max").read_text().split()
        else:
            quota, period = ((folder / f"cpu.cfs_{name}_us").read_text().strip() for name in ("quota", "period"))
    except OSError:
        return None
    return None if quota in ("max", "-1") else int(quota) / int(period)
