"""The other processes of a pod with several workers. Each runs the same command, with its own local rank."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trainwright_trainer.job.options import Options
from trainwright_trainer.job.pod import LOCAL_RANK, Pod

_EXIT_SECONDS = 30.0
"""The time in which the others have to exit after the first process has ended."""


@contextmanager
def with_other_ranks(pod: Pod, path: Path, options: Options) -> Iterator[None]:
    """Start the other processes of this pod, and wait for them at the end. They meet this one in the gang, which ends
    them with its outcome: a signal or a failure needs no other way.
    """
    member = pod.member
    count = member.local_world if member is not None and member.local_rank == 0 else 1
    threads = ["--threads", str(options.threads)] if options.threads else []
    command = [sys.executable, "-m", "trainwright_trainer", "run", str(path), *threads]
    others = [_started(command, local_rank) for local_rank in range(1, count)]
    try:
        yield
        until = time.monotonic() + _EXIT_SECONDS
        for other in others:
            try:
                other.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                break
    finally:
        for other in others:
            other.kill()
            other.wait()


def _started(command: list[str], local_rank: int) -> subprocess.Popen[bytes]:
    """In a session of its own: a signal to the first process reaches it through the gang only."""
    return subprocess.Popen(command, env={**os.environ, LOCAL_RANK: str(local_rank)}, start_new_session=True)
