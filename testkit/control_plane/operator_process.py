"""Operators as real processes beside a cluster, with short intervals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testkit.cluster.cluster import Cluster

TIMEOUT_SECONDS = 60.0
"""The awaited state comes in a second or two; a busy machine may take longer."""
BRISK = {
    "TRAINWRIGHT_LEASE_DURATION": "6",
    "TRAINWRIGHT_LEASE_RENEW": "0.5",
    "TRAINWRIGHT_RETRY_LIMIT": "1",
    "TRAINWRIGHT_SERVER_PORT": "0",
}


@dataclass(frozen=True)
class OperatorProcess:
    """`python -m trainwright_operator`."""

    process: subprocess.Popen[bytes]
    log: Path

    def lines(self) -> list[dict[str, Any]]:
        """The log so far. Every line is one JSON object."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def messages(self) -> str:
        return "\n".join(line["message"] for line in self.lines())

    def terminate(self) -> int:
        """Send SIGTERM; return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(TIMEOUT_SECONDS)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(TIMEOUT_SECONDS)


@contextmanager
def operator(cluster: Cluster, log: Path, identity: str, **settings: str) -> Iterator[OperatorProcess]:
    """Runs in its block, and is killed at its end if it still runs."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("TRAINWRIGHT_")}
    environment = {**ours, **BRISK, "KUBECONFIG": str(cluster.kubeconfig), "TRAINWRIGHT_IDENTITY": identity, **settings}
    with log.open("wb") as stream:
        process = subprocess.Popen([sys.executable, "-m", "trainwright_operator"], env=environment, stderr=stream)
    started = OperatorProcess(process, log)
    try:
        yield started
    finally:
        started.kill()


def eventually(what: Callable[[], bool], operator: OperatorProcess | None = None) -> None:
    """Wait until `what` is true. Fails with the operator's log after the time limit, or if the operator has ended."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while not what():
        over = time.monotonic() > end or (operator is not None and operator.process.poll() is not None)
        assert not over, operator.log.read_text() if operator is not None else "it did not come about"
        time.sleep(0.05)
