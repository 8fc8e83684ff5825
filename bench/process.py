"""Runs a program and measures it from outside, as a stopwatch would."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "bench"


@dataclass(frozen=True)
class Measured:
    """Wall-clock seconds from start to end, the peak memory of the process in MiB, and its output.

    `cpu_seconds`: its CPU time, with that of its ended children.
    """

    seconds: float
    peak_mib: float
    output: str
    cpu_seconds: float


def python(*arguments: str) -> list[str]:
    """The command that runs this environment's Python."""
    return [sys.executable, *arguments]


def trainwright(*arguments: str) -> list[str]:
    """The command that runs this environment's `trainwright`."""
    return [str(Path(sys.executable).with_name("trainwright")), *arguments]


def measure(command: Sequence[str]) -> Measured:
    """Run the command in the project's root. Raises SystemExit with its output if it fails.

    A new process inherits the peak memory of its parent, so this program imports nothing large.
    """
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, cwd=ROOT)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{text}")
    return Measured(seconds, usage.ru_maxrss / 1024, text, usage.ru_utime + usage.ru_stime)
