"""No process or folder of a control plane is left, however its starting process ends."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from testkit.cluster.locks import Folder
from testkit.cluster.shared import ROOT

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses

PROGRAMS = 3
"""etcd, kube-apiserver, kube-controller-manager"""
SECONDS = 120


@dataclass(frozen=True)
class Running:
    """`python -m testkit.cluster`, the programs that it started (a descriptor of each), and its folder."""

    process: subprocess.Popen[str]
    programs: list[int]
    folder: Path

    def programs_end(self) -> bool:
        """Wait for each; True if all end."""
        return all(select.select([program], [], [], SECONDS)[0] for program in self.programs)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_in_order(number: signal.Signals) -> None:
    with started() as running:
        running.process.send_signal(number)
        assert running.process.wait(SECONDS) == 0
        assert running.programs_end()
        assert not running.folder.exists()


def test_its_process_is_killed() -> None:
    with started() as running:
        running.process.kill()
        assert running.programs_end()
        Folder().remove()
        assert not running.folder.exists(), "the next one sweeps"


def test_the_test_run_that_it_serves_is_killed() -> None:
    with subprocess.Popen(["sleep", str(SECONDS)]) as run, started(f"--as-long-as={run.pid}") as running:
        run.kill()
        assert running.process.wait(SECONDS) == 0
        assert running.programs_end()
        assert not running.folder.exists()


@contextmanager
def started(*arguments: str) -> Iterator[Running]:
    """Runs in the block, and is killed at its end if it still runs."""
    command = [sys.executable, "-m", "testkit.cluster", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            folder = _folder(process)
            programs = [os.pidfd_open(pid) for pid in _children(process.pid)]
            assert len(programs) == PROGRAMS
            yield Running(process, programs, folder)
        finally:
            process.kill()
    for program in programs:
        os.close(program)


def _folder(process: subprocess.Popen[str]) -> Path:
    """The folder that it prints when it is ready."""
    assert process.stdout is not None
    says = "Logs and the audit log: "
    return Path(next(line.removeprefix(says).strip() for line in process.stdout if line.startswith(says)))


def _children(pid: int) -> list[int]:
    """The processes that any of its threads started."""
    return [int(child) for path in Path(f"/proc/{pid}/task").glob("*/children") for child in path.read_text().split()]
