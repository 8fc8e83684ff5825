"""A fake API server in memory, and the operator's real TLS server on the loopback interface."""

from __future__ import annotations

import asyncio
import copy
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import pytest

from trainwright_operator.kube.client import Client
from trainwright_operator.kube.errors import ApiError
from trainwright_operator.policy import Policy
from trainwright_operator.server.admission import Answer, answer
from trainwright_operator.server.admission_endpoint import AdmissionEndpoint
from trainwright_operator.server.app import application, serving
from trainwright_operator.server.certificate_rotator import CertificateRotator
from trainwright_operator.server.health import Health
from trainwright_operator.server.metrics import Metrics
from trainwright_operator.server.pod_identity import Reviews
from trainwright_operator.server.progress import ProgressEndpoint
from trainwright_operator.settings import Settings

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


class FakeReviewApi(Client):
    """A fake API server that stores objects by path. Writes need the newest resourceVersion, as in the real one."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.requests: list[tuple[str, str, Any]] = []
        self.tokens: dict[str, Mapping[str, Any]] = {}
        """The status of the TokenReview, by token."""
        self.failures: list[Exception] = []
        """The exceptions that the next requests raise."""
        self.before: Callable[[str, str], object] = lambda _method, _path: None
        """A hook before every request, with which a test can write as another client."""
        self._versions = 0

    def put(self, path: str, found: Mapping[str, Any]) -> dict[str, Any]:
        self._versions += 1
        stored = copy.deepcopy(dict(found))
        stored["metadata"] = {**stored.get("metadata", {}), "resourceVersion": str(self._versions)}
        self.objects[path] = stored
        return copy.deepcopy(stored)

    def methods(self) -> list[str]:
        return [method for method, _, _ in self.requests]

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,  # noqa: ARG002
        body: Any = None,
        content_type: str = "application/json",
        timeout: float | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        await asyncio.sleep(0)
        self.before(method, path)
        self.requests.append((method, path, copy.deepcopy(body)))
        if self.failures:
            raise self.failures.pop(0)
        if path.endswith("/tokenreviews"):
            return {"status": self.tokens.get(body["spec"]["token"], {"error": "no such token"})}
        if method == "POST":
            return self._created(f"{path}/{body['metadata']['name']}", body)
        target = path.removesuffix("/status")
        if target not in self.objects:
            raise ApiError(404, "NotFound", f"{path} not found")
        return self._of_one(method, target, body, content_type)

    def _created(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        if path in self.objects:
            raise ApiError(409, "AlreadyExists", f"{path} already exists")
        return self.put(path, body)

    def _of_one(self, method: str, path: str, body: Any, content_type: str) -> dict[str, Any]:
        found = self.objects[path]
        if method == "GET":
            return copy.deepcopy(found)
        if content_type == "application/json-patch+json":
            for operation in body:
                _patch(found, operation)
            return self.put(path, found)
        if body["metadata"]["resourceVersion"] != found["metadata"]["resourceVersion"]:
            raise ApiError(409, "Conflict", "the object has been modified")
        return self.put(path, body if method == "PUT" else {**found, "status": _applied(found, body)})


def _applied(found: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the status after one owner's apply, which removes that owner's missing fields."""
    theirs = {key: value for key, value in found.get("status", {}).items() if key not in ("progress", "outcome")}
    new = dict(body["status"])
    return {**theirs, **new, "resolved": {**theirs.get("resolved", {}), **new.pop("resolved", {})}}


def _patch(found: dict[str, Any], operation: Mapping[str, str]) -> None:
    *parents, last = operation["path"].strip("/").split("/")
    holder: Any = found
    for key in parents:
        holder = holder[int(key)] if isinstance(holder, list) else holder[key]
    if operation["op"] == "test":
        assert holder[last] == operation["value"]
    else:
        holder[last] = operation["value"]


@dataclass
class Clock:
    """A clock that only tests advance."""

    now: datetime = NOON

    def __call__(self) -> datetime:
        return self.now

    def seconds(self) -> float:
        return self.now.timestamp()

    def pass_by(self, **time: float) -> None:
        self.now += timedelta(**time)


@dataclass
class FakeHealthSource:
    leading: bool = True
    silences: dict[str, float] = field(default_factory=dict)


@dataclass
class Place:
    """The parts of one operator's server, and a client that trusts its CA."""

    api: FakeReviewApi
    clock: Clock
    settings: Settings
    source: FakeHealthSource = field(default_factory=FakeHealthSource)
    metrics: Metrics = field(default_factory=Metrics)
    naps: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rotator = CertificateRotator(self.api, self.settings, self.clock)

    def application(self) -> aiohttp.web.Application:
        progress = ProgressEndpoint(
            self.api,
            Reviews(self.api, self.clock.seconds),
            self.metrics,
            interval=self.settings.progress_interval,
            now=self.clock,
            sleep=self._nap,
        )
        health = Health(self.source, self.settings.stale_after, lambda: self.rotator.loaded)
        admission = AdmissionEndpoint(self.metrics, self._answer)
        return application(admission=admission, progress=progress, metrics=self.metrics, health=health)

    async def _answer(self, body: bytes) -> Answer:
        """Validate in this process. test_admission_worker.py tests the process of its own."""
        return answer(body, self.settings)

    async def _nap(self, seconds: float) -> None:
        self.naps.append(seconds)

    @asynccontextmanager
    async def client(self) -> AsyncIterator[aiohttp.ClientSession]:
        """Run the server during the block, and yield a session with it."""
        await self.rotator.refresh(leading=True)
        async with (
            serving(self.application(), self.rotator.context, 0, "127.0.0.1") as port,
            aiohttp.ClientSession(f"https://localhost:{port}", connector=connector(self.rotator.bundle)) as session,
        ):
            yield session


def connector(bundle: str) -> aiohttp.TCPConnector:
    return aiohttp.TCPConnector(ssl=ssl.create_default_context(cadata=bundle), force_close=True)


@pytest.fixture
def clock() -> Clock:
    # TLS uses the machine's own clock, so certificates have to be valid today.
    return Clock(datetime.now(UTC).replace(microsecond=0))


@pytest.fixture
def api() -> FakeReviewApi:
    return FakeReviewApi()


@pytest.fixture
def place(api: FakeReviewApi, clock: Clock) -> Place:
    return Place(
        api, clock, Settings(progress_url="https://trainwright.trainwright.svc:9443", policy=Policy(inline_keys=True))
    )


@pytest.fixture
def another(place: Place) -> Callable[[], Place]:
    """A second operator pod of the same cluster."""
    return lambda: Place(place.api, place.clock, place.settings)


@pytest.fixture
def talk(place: Place) -> Callable[[Callable[[aiohttp.ClientSession], Awaitable[Any]]], Any]:
    """Return a function that runs a coroutine with a session to the server, and returns its result."""

    async def held(conversation: Callable[[aiohttp.ClientSession], Awaitable[Any]]) -> Any:
        async with place.client() as session:
            return await conversation(session)

    return lambda conversation: asyncio.run(held(conversation))
