"""Whether the process of an attempt still runs: real processes, and a /proc with another process of the same id."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from trainwright_trainer.rundir.process_state import identity, process_state


def about(pid: int, **fields: Any) -> dict[str, Any]:
    """The fields of a start.json that this process has written now."""
    time = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return {**identity(), "pid": pid, "time": time, **fields}


@pytest.fixture
def child(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process with spaces and brackets in its name."""
    program = tmp_path / "a) (b"
    program.symlink_to(str(shutil.which("cat")))
    process = subprocess.Popen([program], stdin=subprocess.PIPE)
    assert "(a) (b)" in Path(f"/proc/{process.pid}/stat").read_text()
    yield process
    process.kill()
    process.communicate()


def test_a_process_runs_until_it_is_killed(child: subprocess.Popen[bytes]) -> None:
    found = about(child.pid)
    assert process_state(found) == "running"
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert process_state(found) == "killed"  # a zombie: nobody has read its status
    child.wait()
    assert process_state(found) == "killed"


def test_a_stopped_process_is_not_killed(child: subprocess.Popen[bytes]) -> None:
    child.send_signal(signal.SIGSTOP)
    assert process_state(about(child.pid)) == "running"


def test_a_younger_process_has_the_id_of_a_killed_one() -> None:
    then = datetime.now(UTC) - timedelta(days=100_000 / 24)
    assert process_state(about(os.getpid(), time=then.isoformat())) == "killed"
    assert process_state(about(os.getpid())) == "running"


@pytest.mark.parametrize(
    "fields", [{"host": "other"}, {"pid_namespace": "pid:[1]"}, {"pid": None}, {"time": None}, {"time": "yesterday"}]
)
def test_what_cannot_be_told_is_unknown(fields: dict[str, Any]) -> None:
    assert process_state(about(os.getpid()) | fields) == "unknown"


def test_a_machine_without_proc_is_unknown(tmp_path: Path) -> None:
    assert process_state(about(os.getpid()), tmp_path) == "unknown"
    (tmp_path / "stat").write_text("cpu 0\n")
    assert process_state(about(os.getpid()), tmp_path) == "unknown"
