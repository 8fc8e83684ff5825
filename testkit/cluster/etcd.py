"""etcd: the store of an API server, in one folder, for one client on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from testkit.cluster.process import Process, wait_until

# The only member of its cluster, so no peer uses this address, and nothing listens there.
ALONE = "http://localhost:2380"


class Etcd:
    """Listens on Unix sockets, which need no free ports, and does not protect its data against a power failure."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._program, self._folder = programs / "etcd", folder
        self._socket = folder / "etcd.sock"
        self.data = folder / "etcd"
        self.url = f"unix://{self._socket}"
        self._process: Process | None = None

    def start(self) -> None:
        """Return when it listens. An earlier client would wait a second before it retries."""
        self._process = Process(self._program, self._flags(), self._folder / "etcd.log")
        wait_until(self._socket.exists, self._process)

    def stop(self) -> None:
        """Stop gracefully, so that its data can be used again."""
        if self._process is not None:
            self._process.stop()

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _flags(self) -> Mapping[str, str]:
        return {
            "name": "default",
            "data-dir": str(self.data),
            "unsafe-no-fsync": "true",
            "listen-client-urls": self.url,
            "listen-peer-urls": f"unix://{self._folder}/peers.sock",
            "advertise-client-urls": ALONE,
            "initial-advertise-peer-urls": ALONE,
            "initial-cluster": f"default={ALONE}",
            "quota-backend-bytes": str(8 << 30),
            "log-level": "error",
        }
