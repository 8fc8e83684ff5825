"""Facts of a run for the report: date, machine, versions, data."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import torch

from trainwright_trainer.callbacks import formats
from trainwright_trainer.job.job import Job
from trainwright_trainer.job.versions import versions
from trainwright_trainer.runtime.cpus import usable_cpus

_LIBRARIES = ("numpy", "pyarrow")


def facts_of(job: Job, dataset: str, content: str, *, now: datetime | None = None) -> dict[str, str]:
    """The facts by name. `content`: the SHA-256 of the data; empty if it is unknown."""
    date = (now or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M UTC")
    found = {**versions(), **{name: version(name) for name in _LIBRARIES}}
    facts = {
        "date": date,
        "machine": _machine(job),
        "versions": " · ".join(f"{name} {number}" for name, number in found.items()),
        "data set": dataset,
        "SHA-256 of the data": content,
        "seed": str(job.spec.seed),
        "folder": str(job.output),
    }
    return {name: fact for name, fact in facts.items() if fact}


def _machine(job: Job) -> str:
    cpus = formats.counted(usable_cpus(job.cpus), "CPU")
    name = _cpu_name(Path("/proc/cpuinfo"))
    memory = formats.memory(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    parts = [platform.node(), f"{platform.system()} {platform.machine()}", f"{cpus} ({name})" if name else cpus, memory]
    if torch.cuda.is_available():
        parts += [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return " · ".join(part for part in parts if part)


def _cpu_name(file: Path) -> str:
    """The name of the CPU as Linux shows it; empty if it is unknown."""
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
