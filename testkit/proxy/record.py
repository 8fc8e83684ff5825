"""Records the requests through the proxy, with counts and bodies, so that they can be sent again."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic

from testkit.proxy.request_info import RequestInfo


@dataclass
class Sent:
    """One request. `code` is the status that the client received, 0 for none."""

    info: RequestInfo
    method: str
    target: str
    """Path and query of the request."""
    content_type: str
    body: bytes
    time: float = field(default_factory=monotonic)
    took_effect: bool = False
    code: int = 0
    fault: str = ""


class Sendings:
    def __init__(self) -> None:
        self.all: list[Sent] = []

    @property
    def counts(self) -> Counter[tuple[str, str, str]]:
        """Counts by verb, resource and subresource."""
        return Counter((sent.info.verb, sent.info.resource, sent.info.subresource) for sent in self.all)

    @property
    def writes(self) -> Sequence[Sent]:
        """All writes except of Leases, which the leader renews forever."""
        return [sent for sent in self.all if sent.info.is_write and sent.info.resource != "leases"]

    async def quiet(self, seconds: float, within: float = 30.0) -> None:
        """Wait until nothing is written for `seconds`."""
        end = monotonic() + within
        while (since := monotonic() - max((sent.time for sent in self.writes), default=0.0)) < seconds:
            if monotonic() > end:
                last = [f"{sent.method} {sent.target} {sent.body[:300]!r}" for sent in self.writes[-3:]]
                raise AssertionError(f"it still writes after {within:g} s: {last}")
            await asyncio.sleep(min(seconds - since, 0.1))
