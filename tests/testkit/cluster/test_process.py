"""A program outlives the thread that asked for it, and its output is in the error when it ends too early."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from testkit.cluster.errors import ClusterError
from testkit.cluster.process import Process, wait_until

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses


def program(folder: Path, text: str) -> Process:
    path = folder / "program"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return Process(path, {"flag": "value"}, folder / "log")


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Process]:
    """Started by a thread that has ended."""
    made: list[Process] = []
    thread = threading.Thread(target=lambda: made.append(program(tmp_path, "exec sleep 60")))
    thread.start()
    thread.join()
    yield made[0]
    made[0].kill()


def test_it_outlives_the_thread_that_asked_for_it(running: Process) -> None:
    running.check()


def test_it_stops_when_it_is_asked_to(running: Process) -> None:
    running.stop()
    with pytest.raises(ClusterError, match="program ended with code -15"):
        running.check()


def test_what_it_reported_is_reported_when_it_ends_too_early(tmp_path: Path) -> None:
    process = program(tmp_path, 'echo "no such $1"; exit 3')
    with pytest.raises(ClusterError, match="program ended with code 3:\nno such --flag=value"):
        wait_until(lambda: False, process)
