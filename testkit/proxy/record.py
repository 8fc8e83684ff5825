"""The attributes of a request, as the API server parses them, and the record of the requests through the proxy."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic


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


WRITES = ("create", "update", "patch", "delete", "deletecollection")
_OF_ONE = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "POST": "create"}
_OF_ALL = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}


@dataclass(frozen=True)
class RequestInfo:
    verb: str
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def is_write(self) -> bool:
        """Reviews of tokens and of access are POSTs that write nothing."""
        return self.verb in WRITES and not self.resource.endswith("reviews")


def read(method: str, path: str, query: Mapping[str, str]) -> RequestInfo:
    """`resource` is empty for other paths, such as /version and API discovery."""
    parts = [part for part in path.split("/") if part]
    skip = {"api": 2, "apis": 3}.get(parts[0] if parts else "", len(parts))
    rest = parts[skip:]
    namespace = ""
    if rest[:1] == ["namespaces"] and len(rest) > 2 and rest[2] not in ("finalize", "status"):
        namespace, rest = rest[1], rest[2:]
    if not rest:
        return RequestInfo(method.lower())
    resource, name, subresource = (*rest, "", "")[:3]
    watches = query.get("watch", "") in ("1", "true")
    verb = "watch" if watches else (_OF_ONE if name else _OF_ALL).get(method, method.lower())
    return RequestInfo(verb, resource, subresource, namespace, name)
