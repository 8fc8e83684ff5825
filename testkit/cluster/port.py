"""A free port that stays reserved while its server is down."""

from __future__ import annotations

import socket

LOOPBACK = "127.0.0.1"


def listens(address: str, port: int) -> bool:
    """True if a server accepts connections there."""
    with socket.socket() as client:
        return client.connect_ex((address, port)) == 0


def free_port() -> int:
    """A port that nobody uses now. Unlike a `Port`, it is not reserved."""
    with socket.socket() as found:
        found.bind((LOOPBACK, 0))
        return int(found.getsockname()[1])


class Port:
    """Bound but not listening: no one else gets it, and a server that shares ports (SO_REUSEPORT) can take it."""

    def __init__(self, address: str = LOOPBACK, number: int = 0) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._socket.bind((address, number))
        self.number: int = self._socket.getsockname()[1]

    def close(self) -> None:
        self._socket.close()
