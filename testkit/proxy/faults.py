"""The faults of the proxy, and the rule that selects the requests that get one."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from testkit.proxy.record import RequestInfo

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
    """`after`: the request takes effect, and only its reply is lost."""

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
    """No reply comes until the client gives up."""


@dataclass(frozen=True, kw_only=True)
class Delay(Fault):
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Truncate(Fault):
    """The request takes effect, and the connection breaks in the middle of the reply's body."""


@dataclass(frozen=True, kw_only=True)
class Stale(Fault):
    """A list request gets the reply that `Proxy.freeze` stored, as from an API server that lags behind."""

    frozen: Mapping[str, bytes] = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class WatchFault(Fault):
    """Faults of the events of one watch. `chance` per event, drawn with the proxy's seed; bookmarks pass."""

    chance: float = 1.0
    types: tuple[str, ...] = ("ADDED", "MODIFIED", "DELETED")


@dataclass(frozen=True, kw_only=True)
class Drop(WatchFault):
    """The event is lost."""


@dataclass(frozen=True, kw_only=True)
class Duplicate(WatchFault):
    """The event comes twice."""


@dataclass(frozen=True, kw_only=True)
class Late(WatchFault):
    """The event and all that follow it come late."""

    seconds: float


@dataclass(frozen=True, kw_only=True)
class Reorder(WatchFault):
    """Up to `window` events within `seconds` change their order; events of one object only if the field says so."""

    window: int = 5
    seconds: float = 0.1
    same_object: bool = False


@dataclass(frozen=True, kw_only=True)
class StreamEnd(WatchFault):
    """The stream ends after this many events."""

    events: int = 0


@dataclass(frozen=True, kw_only=True)
class StreamError(StreamEnd):
    """The stream sends an ERROR event and ends, as for a resourceVersion that is too old."""

    code: int = 410


@dataclass(frozen=True, kw_only=True)
class Silence(StreamEnd):
    """The connection stays open, and no more events come."""


@dataclass(frozen=True, kw_only=True)
class Close(StreamEnd):
    """The stream ends normally."""


@dataclass(frozen=True, kw_only=True)
class Cut(StreamEnd):
    """The connection breaks in the middle of the next event."""


@dataclass
class Rule:
    """Empty fields match all. Of the matching requests, the first `skip` pass, then `times` get the fault."""

    fault: Fault
    verb: str = ""
    """The API server's verb; `write` matches all verbs that change an object."""
    resource: str = ""
    subresource: str | None = None
    """Empty: the object itself; None: any."""
    namespace: str = ""
    name: str = ""
    skip: int = 0
    times: int | None = 1
    chance: float = 1.0
    matched: int = 0
    hits: int = 0

    def befalls(self, request: RequestInfo, draws: random.Random) -> bool:
        """Count a match and decide. Call it once for each request."""
        if not self._matches(request):
            return False
        self.matched += 1
        if self.matched <= self.skip or (self.times is not None and self.hits >= self.times):
            return False
        if self.chance < 1.0 and draws.random() >= self.chance:
            return False
        self.hits += 1
        return True

    def _matches(self, request: RequestInfo) -> bool:
        if isinstance(self.fault, WatchFault) != (request.verb == "watch") and not self.verb:
            return False
        return (
            self.verb in ("", request.verb, "write" if request.is_write else "")
            and self.resource in ("", request.resource)
            and self.subresource in (None, request.subresource)
            and self.namespace in ("", request.namespace)
            and self.name in ("", request.name)
        )
