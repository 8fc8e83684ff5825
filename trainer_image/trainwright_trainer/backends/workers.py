"""Workers that a run starts by itself on this machine, one process for each rank.

They have the variables of torchrun. This process waits for them: it passes a stop request on, and after the loss of a
worker it starts all of them again.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from trainwright_trainer.backends.launchers import OWN
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.job.job import Job
from trainwright_trainer.runtime.signals import StopRequest

_POLL_SECONDS = 0.1
# The time in which the others have to exit after one worker has.
_EXIT_SECONDS = 60.0


@dataclass(frozen=True)
class Start:
    """A worker reads it from its standard input. `quiet`: the run prints nothing; `end`: the file for rank 0's end."""

    job: Job
    quiet: bool
    end: Path


def on_workers(world: int, job: Job, stop: StopRequest, *, quiet: bool) -> Any:
    """Run `tasks.own_worker` in `world` processes. Returns what rank 0 writes as its end: a result or an outcome.

    Raises `EnvironmentFailure` if workers are lost more often than `max_retries` of the file allows.
    """
    causes: list[str] = []
    for restart in range(job.spec.backend.trainer.max_retries + 1):
        with TemporaryDirectory(prefix="trainwright-workers-") as folder:
            end = Path(folder) / "end"
            _run(world, pickle.dumps(Start(job, quiet, end)), restart, stop)
            if end.exists():  # rank 0 writes its end, also that of a mistake; without it, a worker was lost
                return pickle.loads(end.read_bytes())
            causes = [path.read_text() for rank in range(world) if (path := lost_at(end, rank)).exists()]
        if stop:
            break
    line = ": ".join(["workers were lost, and no retry is left", *causes[:1]])
    raise EnvironmentFailure(f"{line}. --resume goes on from the newest checkpoint")


def lost_at(end: Path, rank: int) -> Path:
    """The file in which a worker says why it has taken others for lost. `end`: that for rank 0's end."""
    return end.with_name(f"lost-{rank}")


def _run(world: int, given: bytes, restart: int, stop: StopRequest) -> None:
    """Start the workers, and return when all have ended."""
    workers: list[subprocess.Popen[bytes]] = []
    port = _free_port()
    try:
        workers.extend(_started(_environment(rank, world, port, restart), given) for rank in range(world))
        _wait(workers, stop)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def _started(environment: Mapping[str, str], given: bytes) -> subprocess.Popen[bytes]:
    """A worker in a session of its own, so that Ctrl-C reaches it only through this process."""
    command = [sys.executable, "-m", "trainwright_trainer.tasks.own_worker"]
    worker = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, start_new_session=True)
    assert worker.stdin is not None
    try:
        with worker.stdin as pipe:
            pipe.write(given)
    except BrokenPipeError:
        pass  # it has ended
    return worker


def _wait(workers: Sequence[subprocess.Popen[bytes]], stop: StopRequest) -> None:
    """Wait until all workers have ended, or until `_EXIT_SECONDS` after the first one that has."""
    told, until = False, float("inf")
    while any(worker.poll() is None for worker in workers) and time.monotonic() < until:
        if stop and not told:
            told = True
            for worker in workers:
                worker.send_signal(signal.SIGTERM)
        if until == float("inf") and any(worker.poll() is not None for worker in workers):
            until = time.monotonic() + _EXIT_SECONDS
        time.sleep(_POLL_SECONDS)


def _environment(rank: int, world: int, port: int, restart: int) -> dict[str, str]:
    own = {
        "RANK": rank,
        "WORLD_SIZE": world,
        "LOCAL_RANK": rank,
        "LOCAL_WORLD_SIZE": world,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
        "TORCHELASTIC_RESTART_COUNT": restart,
        OWN: 1,
    }
    return {**os.environ, **{name: str(value) for name, value in own.items()}}


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port
