"""A substitute for the operator's endpoint: an HTTPS server that stores reports and replies as the test sets it."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from testkit.cluster.certificates import CertificateAuthority

TIMEOUT_SECONDS = 60.0
HANG = 0
"""In place of an HTTP status: no reply ever comes."""

Answer = tuple[int, Any]
GO_ON: Answer = (200, {"stop": False, "reason": ""})


@dataclass(frozen=True)
class Report:
    """One report. `token` is the bearer token."""

    path: str
    token: str
    body: dict[str, Any]


class Listening:
    """`answer` is the reply to the next reports, or a function that returns it for each; it may be set at any time."""

    def __init__(self, folder: Path, ca: Path, port: int) -> None:
        self.url, self.ca, self.token_file = f"https://localhost:{port}/v1/namespaces/a/jobs/b", ca, folder / "token"
        self.token_file.write_text("first\n")
        self.answer: Answer | Callable[[Report], Answer] = GO_ON
        self.closed = threading.Event()
        self._reports: list[Report] = []
        self._news = threading.Condition()

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a pod."""
        return {
            "TRAINWRIGHT_PROGRESS_URL": self.url,
            "TRAINWRIGHT_CA": str(self.ca),
            "TRAINWRIGHT_TOKEN_FILE": str(self.token_file),
        }

    @property
    def reports(self) -> list[Report]:
        with self._news:
            return list(self._reports)

    @property
    def outcomes(self) -> list[dict[str, Any]]:
        return [report.body["outcome"] for report in self.reports if "outcome" in report.body]

    def respond(self, report: Report) -> Answer:
        with self._news:
            self._reports.append(report)
            self._news.notify_all()
            return self.answer(report) if callable(self.answer) else self.answer

    def until(self, happened: Callable[[list[Report]], object]) -> None:
        """Wait until `happened` is true of the stored reports."""
        with self._news:
            assert self._news.wait_for(lambda: happened(self._reports), TIMEOUT_SECONDS), self._reports


@contextmanager
def listening(folder: Path) -> Iterator[Listening]:
    """Run the server within the block, at a free port."""
    ca = CertificateAuthority.new(folder / "authority")
    server = _Server(("127.0.0.1", 0), _Handler)
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made = ca.server("operator", ["DNS:localhost"])
    trust.load_cert_chain(made.certificate, made.key)
    server.socket = trust.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    found = Listening(folder, ca.own.certificate, server.server_port)
    server.__dict__["listening"] = found
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield found
    finally:
        found.closed.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client may disconnect at any time."""


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        found: Listening = self.server.__dict__["listening"]
        body = self.rfile.read(int(self.headers["Content-Length"]))
        token = self.headers["Authorization"].removeprefix("Bearer ")
        status, answer = found.respond(Report(self.path, token, json.loads(body)))
        if status == HANG:
            found.closed.wait()
            return
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Tests print nothing."""
