"""A control group whose processes share a limit of memory: version 1 or 2. It needs root."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_EVERY = 0.1
"""Seconds between two looks at the memory."""
_V1 = Path("/sys/fs/cgroup/memory")
_V2 = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Ended:
    """What a command left. `peak_bytes`: the most memory of its processes together, without the page cache, which the
    kernel gives back when it is needed; with shared memory.
    """

    code: int
    seconds: float
    peak_bytes: int


class MemoryGroup:
    """A group of this name directly below the root. It is removed with the processes in it."""

    def __init__(self, name: str, limit_bytes: int) -> None:
        self._is_v1 = (_V1 / "memory.limit_in_bytes").exists()
        self._folder = (_V1 if self._is_v1 else _V2) / name
        self._limit_bytes = limit_bytes

    def __enter__(self) -> MemoryGroup:
        if not self._is_v1:
            (_V2 / "cgroup.subtree_control").write_text("+memory")
        self._folder.mkdir()
        limit = "memory.limit_in_bytes" if self._is_v1 else "memory.max"
        (self._folder / limit).write_text(str(self._limit_bytes))
        return self

    def __exit__(self, *_: object) -> None:
        while pids := (self._folder / "cgroup.procs").read_text().split():
            for pid in pids:
                os.kill(int(pid), signal.SIGKILL)
            time.sleep(_EVERY)
        self._folder.rmdir()

    def run(self, command: Sequence[str], log: Path, *, cwd: Path, env: Mapping[str, str]) -> Ended:
        """Run a command in the group, with its output in `log`."""
        procs = self._folder / "cgroup.procs"
        joined = ["sh", "-c", f'echo $$ > {procs} && exec "$@"', "sh", *command]
        start, peak = time.monotonic(), 0
        with log.open("wb") as output:
            process = subprocess.Popen(joined, stdout=output, stderr=output, cwd=cwd, env=dict(env))
            while process.poll() is None:
                peak = max(peak, self._used_bytes())
                time.sleep(_EVERY)
        return Ended(process.returncode, time.monotonic() - start, peak)

    def _used_bytes(self) -> int:
        lines = (line.split() for line in (self._folder / "memory.stat").read_text().splitlines())
        found = {name: int(value) for name, value in lines}
        return found["rss"] + found["shmem"] if self._is_v1 else found["anon"] + found["shmem"]
