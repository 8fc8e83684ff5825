"""A Ray that `ray start --head` runs, with a folder, ports and a token of its own."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer

SECONDS = 240
"""The timeout for the start of Ray. It is long because a shared machine may be slow."""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def ray_head(port: int, *options: str, **variables: str) -> Iterator[dict[str, str]]:
    """The environment of a shell in which the head runs. `port`: that of its GCS."""
    # The folder holds sockets, so its path has to be short.
    with TemporaryDirectory(prefix="tw-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        environment = {**os.environ, "RAY_TMPDIR": folder, "HOME": folder, "RAY_USAGE_STATS_ENABLED": "0"}
        environment.pop("RAY_ADDRESS", None)
        token = Path(folder, ".ray/auth_token")
        token.parent.mkdir()
        token.write_text(secrets.token_hex(32))
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", f"--port={port}"]
        limits = ["--include-dashboard=false", "--object-store-memory=134217728"]
        process = subprocess.Popen(
            [*command, f"--ray-client-server-port={free_port()}", *limits, *options],
            env={**environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        timeout = Timer(SECONDS, process.kill)
        timeout.start()
        with closing(process.stdout) as log:
            lines = []
            while "will now block forever" not in (line := log.readline()):
                assert line, lines
                lines.append(line)
            timeout.cancel()
            yield environment
            os.killpg(process.pid, signal.SIGKILL)  # on SIGTERM, Ray waits for half a minute
            process.wait(SECONDS)
