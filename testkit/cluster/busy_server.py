"""A server of a store that is overloaded."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from threading import Thread

_BODY = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"


class Busy:
    """Listens at an address, usually that of a stopped server, and answers 503."""

    def __init__(self, address: str) -> None:
        host, port = address.split(":")
        self._server = _BusyServer((host, int(port)), _BusyHandler)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    @property
    def refused(self) -> int:
        """The number of requests that it has answered."""
        return self._server.refused

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _BusyServer(ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    refused = 0


class _BusyHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # clients send Expect: 100-continue and wait for the answer
    server: _BusyServer

    def _refuse(self) -> None:
        self.server.refused += 1
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(503)
        self.send_header("Content-Length", str(len(_BODY)))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(_BODY)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _refuse  # noqa: N815 (http.server's own names)

    def log_message(self, format: str, *args: object) -> None:
        """Print no log."""
