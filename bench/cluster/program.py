"""A program that runs beside the benchmark, with its CPU time and memory as the kernel counts them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.process import ROOT

LOOK_SECONDS = 0.02
TIMEOUT_SECONDS = 600.0
OPERATOR = ("-m", "trainwright_operator")
LISTED, LOOKED_AT = "all is listed", "every job has been looked at"
"""Messages in the operator's log."""


@dataclass(frozen=True)
class Program:
    process: subprocess.Popen[bytes]
    log: Path
    started: float
    """In the clock of time.perf_counter."""

    async def says(self, words: str) -> float:
        """Wait until its log contains these words. Return the seconds since its start."""
        end = time.perf_counter() + TIMEOUT_SECONDS
        while words not in self.log.read_text():
            if self.process.poll() is not None or time.perf_counter() > end:
                raise SystemExit(f"{self.process.args!r} never printed {words!r}:\n{self.log.read_text()[-4000:]}")
            await asyncio.sleep(LOOK_SECONDS)
        return time.perf_counter() - self.started

    @property
    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def peak_mib(self) -> float:
        """Peak memory of the process."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


@asynccontextmanager
async def running(
    arguments: Sequence[str], kubeconfig: Path, log: Path, settings: Mapping[str, str] | None = None
) -> AsyncIterator[Program]:
    """Run Python with these arguments within the block, then end it in order. The operator keeps its own defaults."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("TRAINWRIGHT_")}
    environment = {**inherited, "TRAINWRIGHT_SERVER_PORT": "0", "KUBECONFIG": str(kubeconfig), **(settings or {})}
    with log.open("wb") as stream:
        started = time.perf_counter()
        command = [sys.executable, *arguments]
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT, env=environment, cwd=ROOT)
    try:
        yield Program(process, log, started)
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.wait, TIMEOUT_SECONDS)
    finally:
        process.kill()
        process.wait()
