"""The servers of S3 and of Google Cloud Storage for the tests."""

from __future__ import annotations

import contextlib
import random
import secrets
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from testkit.cluster.errors import ClusterError
from testkit.cluster.node import programs
from testkit.cluster.port import LOOPBACK, listens
from testkit.cluster.process import Process, wait_until
from testkit.cluster.program import build

REGION = "us-east-1"
# Below the ephemeral ports: while the server is down, no other program gets the port.
_PORTS = range(20_000, 32_000)


class ObjectStore:
    """Its buckets are the folders in `folder / "buckets"`. It keeps its address over stop and start."""

    def __init__(self, folder: Path, address: str | None = None) -> None:
        self.folder = folder
        self.address = address or f"{LOOPBACK}:{_free_port()}"
        self.url = f"http://{self.address}"
        self.key_id, self.secret = f"key-{secrets.token_hex(8)}", f"secret-{secrets.token_hex(16)}"
        self._process: Process | None = None

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables that S3 clients read."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": self.key_id,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_REGION": REGION,
        }

    def open(self) -> None:
        """Start it for the first time, without a bucket."""
        for name in ("buckets", "about", "users"):
            (self.folder / name).mkdir(parents=True)
        self.start()

    def start(self) -> None:
        """Return when it listens."""
        keys = {"ROOT_ACCESS_KEY": self.key_id, "ROOT_SECRET_KEY": self.secret}
        words = ["posix", f"--sidecar={self.folder / 'about'}", str(self.folder / "buckets")]
        users = str(self.folder / "users")
        flags = {"port": self.address, "quiet": "true", "region": REGION, "iam-dir": users}
        self._process = Process(programs.versitygw().path(), flags, self.folder / "log", keys, words)
        wait_until(self._listens, self._process)

    def add_user(self, key_id: str, secret: str) -> None:
        """A user who may do what the policies of buckets allow."""
        named = ["--access", self.key_id, "--secret", self.secret, "--endpoint-url", self.url]
        user = ["create-user", "--access", key_id, "--secret", secret, "--role", "user"]
        subprocess.run([programs.versitygw().path(), "admin", *named, *user], check=True)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None

    def _listens(self) -> bool:
        host, port = self.address.split(":")
        return listens(host, int(port))


class GoogleStore:
    """A server with the interface of Google Cloud Storage. It keeps its address and its objects over stop and start."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = f"{LOOPBACK}:{_free_port()}"
        self.url = f"http://{self.address}"
        self._process: Process | None = None

    def __enter__(self) -> Self:
        (self.folder / "buckets").mkdir(parents=True)
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variable that Google's clients read."""
        return {"STORAGE_EMULATOR_HOST": self.url}

    def start(self) -> None:
        """Return when it listens."""
        host, port = self.address.split(":")
        flags = {
            "scheme": "http",
            "host": host,
            "port": port,
            "external-url": self.url,
            "public-host": self.address,
            "backend": "filesystem",
            "filesystem-root": str(self.folder / "buckets"),
            "log-level": "error",
        }
        self._process = Process(programs.fake_gcs_server().path(), flags, self.folder / "log")
        wait_until(lambda: listens(host, int(port)), self._process)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None


def _free_port() -> int:
    for port in random.SystemRandom().sample(_PORTS, 100):
        with contextlib.closing(socket.socket()) as one, contextlib.suppress(OSError):
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind((LOOPBACK, port))
            return port
    raise ClusterError("no port is free for an S3 server")


if __name__ == "__main__":
    sys.exit(build(programs.versitygw))
