"""An API server in memory, with the client's methods: versions, uids, conflicts, and faults on request."""

from __future__ import annotations

import asyncio
import copy
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any

from trainwright_operator.kube.client import ApiError, Client, Page, Unreachable
from trainwright_operator.kube.resources import Resource

Key = tuple[str, str | None, str]
Fault = Callable[[str, str], None]
"""Called with the verb and `kind/name` before a request has an effect; it may raise."""


class FakeApi:
    """A fake `Client`."""

    def __init__(self) -> None:
        self.objects: dict[Key, dict[str, Any]] = {}
        self.requests: list[str] = []
        """Each as in `create Job/flights-1`."""
        self.fault: Fault | None = None
        self.hangs = False
        self.delay: Callable[[], Awaitable[None]] | None = None
        """Awaited in `replace`, after its effect and before its answer."""
        self._versions: Iterator[int] = itertools.count(1)

    def add(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Store an object that exists before the test."""
        metadata = raw["metadata"]
        return self._store((raw["kind"], metadata.get("namespace"), metadata["name"]), raw)

    def stored(self, kind: str, name: str, namespace: str | None = "team") -> dict[str, Any] | None:
        return self.objects.get((kind, namespace, name))

    def names(self, kind: str) -> list[str]:
        return [name for found, _, name in self.objects if found == kind]

    def writes(self) -> list[str]:
        return [request for request in self.requests if not request.startswith(("get", "list"))]

    async def get(self, resource: Resource, namespace: str | None, name: str) -> dict[str, Any]:
        await self._asked("get", resource, name)
        return copy.deepcopy(self._found(resource, namespace, name))

    find = Client.find

    async def create(self, resource: Resource, namespace: str | None, body: Mapping[str, Any]) -> dict[str, Any]:
        name = body["metadata"]["name"]
        await self._asked("create", resource, name)
        if (resource.kind, namespace, name) in self.objects:
            raise ApiError(409, "AlreadyExists", f'{resource.plural} "{name}" already exists')
        return self._store((resource.kind, namespace, name), body)

    async def replace(
        self, resource: Resource, namespace: str | None, name: str, body: Mapping[str, Any]
    ) -> dict[str, Any]:
        await self._asked("replace", resource, name)
        self._check_version(self._found(resource, namespace, name), body)
        stored = self._store((resource.kind, namespace, name), body)
        if self.delay is not None:
            await self.delay()
        return stored

    async def apply(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        body: Mapping[str, Any],
        *,
        field_manager: str,
        subresource: str | None = None,
        force: bool = True,
    ) -> dict[str, Any]:
        """Apply the status only. Its fields replace the stored ones, as for a sole owner."""
        await self._asked("apply", resource, name)
        assert (field_manager, subresource, force) == ("trainwright", "status", True)
        found = self._found(resource, namespace, name)
        self._check_version(found, body)
        return self._store((resource.kind, namespace, name), {**found, "status": body["status"]})

    async def remove(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        pointers: Iterable[str],
        *,
        resource_version: str,
        subresource: str | None = None,
    ) -> dict[str, Any]:
        """Remove the status only."""
        await self._asked("remove", resource, name)
        assert subresource == "status"
        found = self._found(resource, namespace, name)
        self._check_version(found, {"metadata": {"resourceVersion": resource_version}})
        assert list(pointers) == ["/status"]
        return self._store((resource.kind, namespace, name), {key: found[key] for key in found if key != "status"})

    async def delete(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        *,
        uid: str | None = None,
        propagation: str = "Background",
    ) -> dict[str, Any]:
        await self._asked("delete", resource, name)
        assert propagation == "Background"
        found = self._found(resource, namespace, name)
        if uid is not None and found["metadata"]["uid"] != uid:
            raise ApiError(409, "Conflict", "the uid in the precondition does not match")
        return self.objects.pop((resource.kind, namespace, name))

    async def list(
        self, resource: Resource, namespace: str | None = None, *, selector: str = "", field_selector: str = ""
    ) -> AsyncIterator[Page]:
        await self._asked("list", resource, field_selector or selector)
        for key, found in self.objects.items():
            if key[0] == resource.kind and namespace in (None, key[1]):
                yield Page([copy.deepcopy(found)], "1", first=True)

    async def _asked(self, verb: str, resource: Resource, name: str) -> None:
        self.requests.append(f"{verb} {resource.kind}/{name}")
        if self.hangs:
            await asyncio.get_running_loop().create_future()
        if self.fault is not None:
            self.fault(verb, f"{resource.kind}/{name}")
        await asyncio.sleep(0)

    def _found(self, resource: Resource, namespace: str | None, name: str) -> dict[str, Any]:
        try:
            return self.objects[resource.kind, namespace, name]
        except KeyError:
            raise ApiError(404, "NotFound", f'{resource.plural} "{name}" not found') from None

    def _check_version(self, found: Mapping[str, Any], body: Mapping[str, Any]) -> None:
        wanted = body["metadata"].get("resourceVersion")
        if wanted is not None and wanted != found["metadata"]["resourceVersion"]:
            raise ApiError(409, "Conflict", "the object has been modified")

    def _store(self, key: Key, raw: Mapping[str, Any]) -> dict[str, Any]:
        version = str(next(self._versions))
        uid = raw["metadata"].get("uid") or f"uid-{version}"
        whole = copy.deepcopy({**raw, "metadata": {**raw["metadata"], "uid": uid, "resourceVersion": version}})
        self.objects[key] = whole
        return copy.deepcopy(whole)


def unreachable(verb: str, what: str) -> None:
    """A fault: the API server answers no request."""
    raise Unreachable(f"{verb} {what}: the connection was reset")
