"""Selects the requests that get a fault."""

from __future__ import annotations

import random
from dataclasses import dataclass

from testkit.proxy.faults import Fault, WatchFault
from testkit.proxy.request_info import RequestInfo


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
