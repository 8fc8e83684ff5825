"""The attributes of a request, parsed from method and path as the API server does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
