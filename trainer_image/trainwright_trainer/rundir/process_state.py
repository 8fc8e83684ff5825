"""Whether the process that has begun an attempt still runs, as far as this machine can tell."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

PROC = Path("/proc")
CLOCK_SECONDS = 2.0
"""start.json has whole seconds, and the boot time of the kernel too."""

NAMESPACE = "pid_namespace"

ProcessState = Literal["running", "killed", "unknown"]


def identity() -> dict[str, Any]:
    """This process: the host, its id, and where the id counts, which containers of one host name do not share."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return {"host": socket.gethostname(), "pid": os.getpid(), NAMESPACE: namespace}


def identity_now() -> dict[str, Any]:
    """The fields of this process that `process_state` reads later."""
    time = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return {**identity(), "time": time}


def process_state(about: Mapping[str, Any], proc: Path = PROC) -> ProcessState:
    """The state of the process that `identity()` and `time` in a start.json without an outcome describe.

    "unknown": it runs on another machine or in another container, or `about` lacks a field. A process that has begun
    after `time` is another one with the same id.
    """
    pid, time, here = about.get("pid"), about.get("time"), identity()
    is_here = here[NAMESPACE] and all(about.get(key) == here[key] for key in ("host", NAMESPACE))
    if not is_here or not isinstance(pid, int) or not isinstance(time, str):
        return "unknown"
    try:
        written = datetime.fromisoformat(time).timestamp()
        begun = _begun(proc, pid)
    except (ValueError, OSError):
        return "unknown"
    return "running" if begun is not None and begun <= written + CLOCK_SECONDS else "killed"


def other_process(about: Mapping[str, Any]) -> int | None:
    """The id of the process that `about` describes, if it runs on this machine and is not this one."""
    pid: int | None = about.get("pid") if process_state(about) == "running" else None
    return pid if pid != os.getpid() else None


def _begun(proc: Path, pid: int) -> float | None:
    """The time at which a process has begun, in seconds; None if there is none, or if it has ended (a zombie)."""
    boot = re.search(r"^btime (\d+)$", (proc / "stat").read_text(), re.MULTILINE)
    if boot is None:
        raise ValueError("/proc/stat has no btime")
    try:
        # The name of the program is in brackets, and may contain spaces and brackets.
        fields = (proc / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(boot[1]) + int(fields[19]) / os.sysconf("SC_CLK_TCK")
