"""What rank 0 of the workers and the driver tell each other, whoever carries it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

Kind = Literal["said", "heard", "ready", "ended"]


@dataclass(frozen=True)
class Message:
    """From a worker. `number` is set where an answer is waited for."""

    kind: Kind
    content: Any
    number: int | None = None


@dataclass(frozen=True)
class ControlState:
    """Of the driver. `stop`: who asks for one. `saves`: how many checkpoints were asked for, so far."""

    stop: str | None = None
    saves: int = 0


class Channel(Protocol):
    """A worker's way to the driver."""

    def send(self, kind: Kind, content: Any) -> None:
        """Returns at once; letters arrive in the order in which they were sent."""
        ...

    def ask(self, kind: Kind, content: Any) -> Any:
        """Waits for the driver's answer."""
        ...

    @property
    def stop(self) -> str | None:
        """Who asked for a stop, as far as is known here. Looked up once a second, beside the steps."""
        ...

    @property
    def saves(self) -> int:
        """How many checkpoints were asked for since this way was opened, as far as is known here."""
        ...

    def look_for_stop(self) -> str | None:
        """Who asked for a stop, looked up now."""
        ...

    def ended(self) -> bool:
        """Whether some worker has told the end of it all."""
        ...

    def close(self) -> None:
        """Returns when everything has arrived."""
        ...
