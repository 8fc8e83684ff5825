"""What can be done to a request, or to the events of a watch. Times are seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

REASONS = {
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


@dataclass(frozen=True, kw_only=True)
class Fault:
    """`after`: the request takes effect first, and only its answer is lost."""

    after: bool = False


@dataclass(frozen=True, kw_only=True)
class Answer(Fault):
    code: int
    retry_after: int | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Reset(Fault):
    """The connection breaks."""


@dataclass(frozen=True, kw_only=True)
class Hang(Fault):
    """Nothing comes, until the client gives up."""


@dataclass(frozen=True, kw_only=True)
class Delay(Fault):
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Truncate(Fault):
    """It takes effect, and the connection breaks in the middle of the answer's body."""


@dataclass(frozen=True, kw_only=True)
class Stale(Fault):
    """A list is answered as `Proxy.freeze` found it once: by an API server that lags behind."""

    frozen: Mapping[str, bytes] = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class WatchFault(Fault):
    """Of the events of one watch. `chance` of each event, drawn by the proxy's seed; bookmarks are left alone."""

    chance: float = 1.0
    types: tuple[str, ...] = ("ADDED", "MODIFIED", "DELETED")


@dataclass(frozen=True, kw_only=True)
class Drop(WatchFault):
    """The event never comes."""


@dataclass(frozen=True, kw_only=True)
class Duplicate(WatchFault):
    """The event comes twice."""


@dataclass(frozen=True, kw_only=True)
class Late(WatchFault):
    """The event comes later, and all that follow it."""

    seconds: float


@dataclass(frozen=True, kw_only=True)
class Reorder(WatchFault):
    """Up to `window` events that come within `seconds` change places; those of one object only where it says so."""

    window: int = 5
    seconds: float = 0.1
    same_object: bool = False


@dataclass(frozen=True, kw_only=True)
class StreamEnd(WatchFault):
    """After so many events."""

    events: int = 0


@dataclass(frozen=True, kw_only=True)
class StreamError(StreamEnd):
    """The stream tells an error and ends, as when the resourceVersion is too old."""

    code: int = 410


@dataclass(frozen=True, kw_only=True)
class Silence(StreamEnd):
    """The connection lives, and nothing more comes."""


@dataclass(frozen=True, kw_only=True)
class Close(StreamEnd):
    """The stream ends in order."""


@dataclass(frozen=True, kw_only=True)
class Cut(StreamEnd):
    """The connection breaks in the middle of the next event."""
