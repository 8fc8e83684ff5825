"""Child programs that end with this process, for any reason."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from testkit.cluster.errors import ClusterError

# The parent-death signal of the kernel follows the thread that started the program, so one thread that lives as long as
# the process starts them all. Otherwise a server restarted by an asyncio worker thread would end with that thread.
_STARTER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="starter-of-programs")
SECONDS_TO_START = 120.0
SECONDS_TO_END = 10.0
SECONDS_BETWEEN_LOOKS = 0.02


class Process:
    """A program in its own process group: Ctrl-C reaches only this process, which stops the program gracefully."""

    def __init__(
        self,
        program: Path,
        flags: Mapping[str, str],
        log: Path,
        environment: Mapping[str, str] | None = None,
        words: Sequence[str] = (),
    ) -> None:
        """`words` come after the flags."""
        self.name, self.log = program.name, log
        command = [str(program), *(f"--{name}={value}" for name, value in flags.items()), *words]
        self._popen = _STARTER.submit(_start, command, log, {**os.environ, **(environment or {})}).result()

    @property
    def pid(self) -> int:
        return self._popen.pid

    def check(self) -> None:
        """Raise with the end of the log if the program has ended."""
        if self._popen.poll() is not None:
            raise ClusterError(f"{self.name} ended with code {self._popen.returncode}:\n{self.last_lines()}")

    def last_lines(self, count: int = 15) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-count:])

    def stop(self) -> None:
        """Ask it to end, and kill it if it does not."""
        self._signal(signal.SIGTERM)
        try:
            self._popen.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        self._signal(signal.SIGKILL)
        self._popen.wait()

    def _signal(self, number: int) -> None:
        if self._popen.poll() is None:
            os.killpg(self._popen.pid, number)


def wait_until(ready: Callable[[], bool], process: Process) -> None:
    """Poll until ready; raises with the end of the log if the program ends or takes too long."""
    end = time.monotonic() + SECONDS_TO_START
    while not ready():
        process.check()
        if time.monotonic() > end:
            raise ClusterError(f"{process.name} is not ready after {SECONDS_TO_START:.0f} s:\n{process.last_lines()}")
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _start(command: Sequence[str], log: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    guarded = ["setpriv", "--pdeathsig", "KILL", "--", *command]
    with log.open("ab") as output:
        try:
            return subprocess.Popen(
                guarded, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, process_group=0
            )
        except FileNotFoundError:
            raise ClusterError("setpriv of util-linux is not installed: it ends the programs with us") from None
