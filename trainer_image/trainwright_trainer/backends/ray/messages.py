"""The messages between the workers and the driver, independent of their transport."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Kind = Literal["log", "event", "settle", "ready", "ended", "began", "reported", "failed"]
"""The last three are those of a user's own train function."""


@dataclass(frozen=True)
class Message:
    """From a worker. `number` is set if the worker waits for a reply."""

    kind: Kind
    content: Any
    number: int | None = None


@dataclass(frozen=True)
class ControlState:
    """From the driver. `stop`: the source of a stop request. `saves`: the number of checkpoints requested so far.

    `decides`: the driver decides after each evaluation round whether training goes on.
    """

    stop: str | None = None
    saves: int = 0
    decides: bool = False


class Channel(Protocol):
    """A worker's channel to the driver."""

    def send(self, kind: Kind, content: Any) -> None:
        """Send a message and return at once. Messages arrive in the order in which they were sent."""
        ...

    def ask(self, kind: Kind, content: Any) -> Any:
        """Send a message and wait for the driver's reply."""
        ...

    @property
    def stop(self) -> str | None:
        """The source of the stop request, as last polled: once a second, in the background of the steps."""
        ...

    @property
    def saves(self) -> int:
        """The number of checkpoints requested since this channel was opened, as last polled."""
        ...

    def settle(self) -> None:
        """Wait until the driver has handled all messages, and know its stop request, if it decides on each round."""
        ...

    def look_for_stop(self) -> str | None:
        """The source of the stop request, polled now."""
        ...

    def ended(self) -> bool:
        """True if a worker has reported the end of the run."""
        ...

    def close(self) -> None:
        """Close the channel. Returns when all messages have arrived."""
        ...


def pickled(content: Any) -> bytes:
    """The content of a message as bytes that the mailbox does not unpickle.

    To unpickle them, the mailbox would import their classes and with them torch. That takes seconds, in which every
    worker would wait.
    """
    return pickle.dumps(content)


def unpickled(content: bytes) -> Any:
    return pickle.loads(content)
