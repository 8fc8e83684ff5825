"""A real MLflow server. The whole mlflow needs an older pandas than the lock file has, so uv gives it its own place."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SERVER = "mlflow==3.17.2"
_SECONDS = 900
"""The longest start: the first one on a machine fetches the server, and a busy machine takes minutes to import it."""


@contextmanager
def mlflow_server(folder: Path) -> Iterator[str]:
    """The address of a server that keeps its runs and artifacts in `folder`. The process ends with the context."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = os.environ.get("UV") or shutil.which("uv")  # `uv run` sets UV: the Makefile's own uv is not in PATH
    uv = [found] if found else [sys.executable, "-m", "uv"]
    words = [*uv, "tool", "run", "--python", sys.executable, "--from", SERVER, "mlflow", "server", "--port", str(port)]
    words += ["--host", "127.0.0.1", "--workers", "1", "--backend-store-uri", f"sqlite:///{folder}/runs.db"]
    words += ["--artifacts-destination", str(folder / "artifacts")]
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(words, stdout=log, stderr=log, cwd=folder, start_new_session=True)
    try:
        _wait(server, f"http://127.0.0.1:{port}", folder / "server.log")
        yield f"http://127.0.0.1:{port}"
    finally:
        _end(server)


def _wait(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    for _ in range(_SECONDS * 2):
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            try:
                server.wait(0.5)
            except subprocess.TimeoutExpired:
                continue
        raise AssertionError(log.read_text()[-3000:])
    raise AssertionError(f"no answer within {_SECONDS} s: {log.read_text()[-3000:]}")


def _end(server: subprocess.Popen[bytes]) -> None:
    """The server's workers are processes of its own group."""
    import os
    import signal

    os.killpg(server.pid, signal.SIGTERM)
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
