"""One control plane for all worker processes of a test run: the first process that needs it starts it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from testkit.cluster import locks
from testkit.cluster.cluster import Cluster
from testkit.cluster.errors import ClusterError

ROOT = Path(__file__).parents[2]
SECONDS_BETWEEN_LOOKS = 0.05


def join(folder: Path, run: int) -> Cluster:
    """The control plane of all processes that name this folder. It ends with the process whose id is `run`."""
    ready = folder / "control-plane"
    with locks.locked(folder / "control-plane.lock"):
        if not ready.exists():
            _start(ready, run)
    return Cluster.in_folder(Path(ready.read_text()))


def _start(ready: Path, run: int) -> None:
    """Start it in its own session, so that a worker that ends early does not end it."""
    log = ready.with_suffix(".log")
    command = [sys.executable, "-m", "testkit.cluster", f"--ready-file={ready}", f"--as-long-as={run}"]
    with log.open("wb") as output:
        supervisor = os.posix_spawn(
            command[0],
            command,
            {**os.environ, "PYTHONPATH": str(ROOT)},
            file_actions=[(os.POSIX_SPAWN_DUP2, output.fileno(), number) for number in (1, 2)],
            setsid=True,
        )
    while not ready.exists():
        ended, _ = os.waitpid(supervisor, os.WNOHANG)
        if ended:
            raise ClusterError(log.read_text())
        time.sleep(SECONDS_BETWEEN_LOOKS)
