"""A proxy in front of the server of an object store. It delays, breaks off, stalls or refuses requests."""

from __future__ import annotations

import contextlib
import socket
import struct
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from threading import Event, Lock, Thread
from typing import Any, Self

from testkit.cluster.port import LOOPBACK

_OF_ONE_CONNECTION = ("connection", "content-length", "transfer-encoding")
_ERRORS = {403: "AccessDenied", 503: "SlowDown"}
FOREVER = sys.maxsize


@dataclass
class StoreFault:
    """The fault of the requests of these methods whose path contains `path`: `skip` of them pass, `times` get it.

    With a `code`, the proxy answers by itself, with an error of S3 or with the `content`, which is JSON or HTML. Else
    the request takes effect, half of the reply passes, and the connection is reset; if it `stalls`, nothing more comes
    until the client gives up. With `times` 0, a fault ends.
    """

    methods: tuple[str, ...] = ("GET",)
    path: str = ""
    times: int = 1
    skip: int = 0
    code: int | None = None
    content: str = ""
    stalls: bool = False
    hits: int = field(default=0, init=False)
    passed: int = field(default=0, init=False)

    def befalls(self, method: str, path: str) -> bool:
        """Count a request that it concerns, and decide."""
        if self.hits >= self.times or method not in self.methods or self.path not in path:
            return False
        if self.passed < self.skip:
            self.passed += 1
            return False
        self.hits += 1
        return True


class StoreProxy:
    """Listens inside its `with` block. `server` is the address of the store, `host:port`.

    Each request is held up for `delay_seconds`.
    """

    def __init__(self, server: str, delay_seconds: float = 0.0) -> None:
        self.server, self.delay_seconds = server, delay_seconds
        self.ended = Event()
        self._lock = Lock()
        self._faults: list[StoreFault] = []
        self._listener = _Listener((LOOPBACK, 0), _Handler)
        self._listener.proxy = self
        self._thread = Thread(target=self._listener.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self._listener.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self._listener.shutdown()
        self._listener.server_close()
        self._thread.join()

    def add(self, fault: StoreFault) -> StoreFault:
        self._faults.append(fault)
        return fault

    def fault_of(self, method: str, path: str) -> StoreFault | None:
        """The first fault of the request, which counts as a hit."""
        with self._lock:
            return next((fault for fault in self._faults if fault.befalls(method, path)), None)


class _Listener(ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False  # a client may keep its connection open
    request_queue_size = 100
    proxy: StoreProxy

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client may break off at any moment. Other errors are printed."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # clients send Expect: 100-continue and wait for the answer
    server: _Listener

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        time.sleep(self.server.proxy.delay_seconds)
        fault = self.server.proxy.fault_of(self.command, self.path)
        if fault is not None and fault.code is not None:
            self._refuse(fault.code, fault.content)
            return
        try:
            self._forward(body, fault)
        except (OSError, HTTPException):
            self._reset()  # the store or the client is gone

    def _forward(self, body: bytes, fault: StoreFault | None) -> None:
        with contextlib.closing(HTTPConnection(self.server.proxy.server)) as store:
            # The signature of a request contains its headers, also the Host.
            store.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() != "expect":
                    store.putheader(name, value)
            store.endheaders(body or None)
            reply = store.getresponse()
            content = reply.read()
        headers = [(name, value) for name, value in reply.getheaders() if name.lower() not in _OF_ONE_CONNECTION]
        length = reply.getheader("Content-Length") or str(len(content))
        self._send(f"{reply.status} {reply.reason}", [*headers, ("Content-Length", length)], content, fault)

    def _refuse(self, code: int, text: str) -> None:
        reason = _ERRORS.get(code, "OK")
        kind = "application/json" if text.startswith("{") else "text/html" if text else "application/xml"
        content = (text or f"<Error><Code>{reason}</Code><Message>as the test says</Message></Error>").encode()
        headers = [("Content-Length", str(len(content))), ("Content-Type", kind)]
        self._send(f"{code} {reason}", headers, content if self.command != "HEAD" else b"", None)

    def _send(self, status: str, headers: Sequence[tuple[str, str]], content: bytes, fault: StoreFault | None) -> None:
        head = "\r\n".join([f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers), "\r\n"])
        whole = head.encode("latin-1") + content
        self.wfile.write(whole if fault is None else whole[: len(whole) // 2])
        if fault is not None:
            if fault.stalls:
                self._wait()
            self._reset()

    def _wait(self) -> None:
        """Return when the client gives up, or the proxy ends."""
        self.connection.settimeout(0.05)
        while not self.server.proxy.ended.is_set():
            with contextlib.suppress(TimeoutError):
                self.connection.recv(1)
                return

    def _reset(self) -> None:
        """Send RST instead of FIN: the client sees an error, not an end of stream."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _serve  # noqa: N815 (http.server's own names)

    def log_message(self, format: str, *args: object) -> None:
        """Print no log."""
