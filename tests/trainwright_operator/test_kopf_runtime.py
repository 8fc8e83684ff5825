"""The real kopf with the operator's handlers, and an API server that a test scripts."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import kopf
import pytest
from aiohttp import web

from trainwright_operator import kopf_runtime
from trainwright_operator.informer.jobs import Jobs
from trainwright_operator.kopf_runtime import Host
from trainwright_operator.kube.client import Client
from trainwright_operator.settings import Settings

from .api_server import Answer, ApiServer, api_server, client_of, event, hang, page, refusal, status_object, stream
from .fake_time import START

Json = dict[str, Any]
API = "/apis/trainwright.dev/v1alpha1"
VERBS = ["get", "list", "watch", "patch"]


def job(name: str, version: int) -> Json:
    metadata = {"namespace": "team", "name": name, "uid": f"uid-{name}", "resourceVersion": str(version)}
    return {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", "metadata": metadata, "spec": {}}


def knows(kind: str, plural: str) -> Json:
    return {"name": plural, "kind": kind, "singularName": kind.lower(), "namespaced": True, "verbs": VERBS}


def discovery(*resources: Json) -> dict[str, Json]:
    version = {"groupVersion": "trainwright.dev/v1alpha1", "version": "v1alpha1"}
    group = {"name": "trainwright.dev", "versions": [version], "preferredVersion": version}
    return {
        "/api": {"versions": ["v1"]},
        "/api/v1": {"resources": [knows("Namespace", "namespaces")]},
        "/apis": {"groups": [group]},
        API: {"resources": list(resources)},
    }


INSTALLED = discovery(knows("TrainingJob", "trainingjobs"))


class RuntimeEnvironment:
    def __init__(self, server: ApiServer, client: Client, settings: Settings) -> None:
        self.server = server
        self.notified: list[tuple[str, str]] = []
        self.jobs = Jobs(settings, lambda: START, lambda key, *_: self.notified.append(key))
        self.host = Host(client, self.jobs, settings)

    @property
    def starts(self) -> int:
        """The number of starts of kopf: each start reads the API groups once."""
        return self.server.discovered.count("/apis")

    def serves(self, *answers: Answer, watches: tuple[Answer, ...] = ()) -> None:
        self.server.answers += answers
        self.server.watches += watches

    @property
    def names(self) -> list[str]:
        return sorted(name for (_, name), _ in self.jobs.store.items())

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not holds():
                await asyncio.sleep(0.01)


Scenario = Callable[[RuntimeEnvironment], Awaitable[None]]


def run_scenario(
    scenario: Scenario, before: Callable[[RuntimeEnvironment], None], settings: Settings | None = None
) -> None:
    async def whole() -> None:
        used = settings or Settings(retry_base=0.01, retry_limit=0.02)
        async with api_server() as server, client_of(server) as client:
            server.discovery = dict(INSTALLED)
            environment = RuntimeEnvironment(server, client, used)
            before(environment)
            running = asyncio.create_task(environment.host.run())
            try:
                await scenario(environment)
            finally:
                running.cancel()
                with suppress(asyncio.CancelledError):
                    await running
            await environment.until(lambda: "kopf" not in {thread.name for thread in threading.enumerate()})

    asyncio.run(whole())


def test_what_kopf_lists_and_watches_reaches_the_jobs_by_the_handler() -> None:
    def before(environment: RuntimeEnvironment) -> None:
        events = (event("ADDED", job("b", 6)), event("DELETED", job("a", 7)), None)
        environment.serves(page([job("a", 5)], 5), watches=(stream(*events),))

    async def scenario(environment: RuntimeEnvironment) -> None:
        await environment.until(lambda: environment.names == ["b"])
        assert sorted(environment.notified) == [("team", "a"), ("team", "a"), ("team", "b")]
        [watch] = environment.server.watched
        assert (watch.path, watch.query["resourceVersion"]) == (f"{API}/trainingjobs", "5")

    run_scenario(scenario, before)


def test_with_namespaces_each_is_listed_and_watched() -> None:
    async def scenario(environment: RuntimeEnvironment) -> None:
        await environment.until(
            lambda: all(map(environment.jobs.synced, ("team", "two"))) and len(environment.server.watched) == 2
        )
        assert {request.path for request in environment.server.watched} == {
            f"{API}/namespaces/team/trainingjobs",
            f"{API}/namespaces/two/trainingjobs",
        }

    run_scenario(scenario, lambda _: None, Settings(namespaces=("team", "two")))


def test_a_namespace_that_may_not_be_listed_holds_up_no_other() -> None:
    """The Role of a deleted namespace is gone with it."""

    def by_namespace(request: web.Request) -> Awaitable[web.StreamResponse]:
        answers = refusal(403, "Forbidden") if "/deleted/" in request.path else page([job("a", 5)], 5)
        return answers(request)

    def before(environment: RuntimeEnvironment) -> None:
        environment.serves(*[by_namespace] * 100)

    async def scenario(environment: RuntimeEnvironment) -> None:
        await environment.until(lambda: environment.names == ["a"])
        await environment.until(lambda: sum("/deleted/" in one.path for one in environment.server.lists) > 2)
        assert environment.jobs.synced("team")
        assert not environment.jobs.synced("deleted")
        assert environment.starts == 1

    run_scenario(scenario, before, Settings(retry_base=0.01, retry_limit=0.02, namespaces=("team", "deleted")))


def test_what_went_in_a_gap_is_forgotten() -> None:
    def before(environment: RuntimeEnvironment) -> None:
        gone = stream(event("ERROR", status_object(410)))
        environment.serves(page([job("a", 4), job("b", 5)], 5), page([job("b", 5)], 9), watches=(gone,))

    async def scenario(environment: RuntimeEnvironment) -> None:
        await environment.until(lambda: sorted(environment.notified) == [("team", "a"), ("team", "a"), ("team", "b")])
        assert (environment.names, environment.starts) == (["b"], 1)

    run_scenario(scenario, before)


@pytest.mark.parametrize(
    ("watch", "named"),
    [
        (stream(event("ERROR", status_object(500))), "WatchingError"),
        (refusal(404, "NotFound"), "APINotFoundError"),
        (refusal(401, "Unauthorized"), "LoginError"),
        (stream({"no": "event"}), "KeyError"),
    ],
)
def test_what_ends_kopf_ends_nothing_else_and_it_starts_again(
    watch: Answer, named: str, caplog: pytest.LogCaptureFixture
) -> None:
    def before(environment: RuntimeEnvironment) -> None:
        environment.serves(page([job("a", 5)], 5), page([job("a", 5), job("b", 8)], 9), watches=(watch,))

    async def scenario(environment: RuntimeEnvironment) -> None:
        await environment.until(lambda: environment.starts == 1)
        other = asyncio.create_task(asyncio.Event().wait())
        await environment.until(lambda: environment.names == ["a", "b"])
        assert environment.starts == 2
        assert not other.done()
        other.cancel()

    run_scenario(scenario, before)
    [record] = [record for record in caplog.records if record.name == "trainwright_operator.kopf_runtime"]
    assert record.getMessage().startswith("kopf has ended: ")
    expected = (logging.ERROR, True) if named == "KeyError" else (logging.WARNING, False)
    assert (record.levelno, bool(record.exc_info)) == expected


def test_an_object_nested_too_deeply_for_python_keeps_no_other_from_being_seen() -> None:
    def before(environment: RuntimeEnvironment) -> None:
        deep = json.dumps({**job("deep", 6), "spec": "HERE"}).replace('"HERE"', '{"a":' * 9_000 + "1" + "}" * 9_000)
        events = (event("ADDED", job("b", 7)), f'{{"type": "MODIFIED", "object": {deep}}}\n'.encode())
        environment.serves(page([job("a", 5)], 5), watches=(stream(events[1], events[0], None),))

    async def scenario(environment: RuntimeEnvironment) -> None:
        await environment.until(lambda: environment.names == ["a", "b", "deep"])
        assert environment.starts == 1

    run_scenario(scenario, before)


def test_a_server_that_does_not_know_the_resource_yet_is_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    def before(environment: RuntimeEnvironment) -> None:
        environment.server.discovery = discovery()

    async def scenario(environment: RuntimeEnvironment) -> None:
        await environment.until(lambda: environment.starts == 2)
        assert not environment.jobs.synced(None)
        environment.server.discovery = dict(INSTALLED)
        await environment.until(lambda: environment.jobs.synced(None))

    run_scenario(scenario, before, Settings(retry_base=0.01, retry_limit=0.02, resync=0.2))
    assert "kopf has found no TrainingJobs to watch" in caplog.text


def test_a_list_may_take_as_long_as_it_does() -> None:
    async def scenario(environment: RuntimeEnvironment) -> None:
        await environment.until(lambda: len(environment.server.lists) == 1)
        starts = environment.starts  # More than one if a busy machine needed longer than 0.2 s for the first request.
        await asyncio.sleep(0.3 * 2 ** (starts - 1))
        assert (environment.starts, len(environment.server.lists)) == (starts, 1)

    run_scenario(scenario, lambda environment: environment.serves(hang), Settings(resync=0.2))


def test_a_kopf_that_does_not_stop_keeps_no_operator_from_stopping(monkeypatch: pytest.MonkeyPatch) -> None:
    release, cancellations = threading.Event(), []

    async def never_ends() -> None:
        while not release.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                cancellations.append(1)

    async def spawn_tasks(**_: Any) -> list[asyncio.Task[None]]:
        return [asyncio.create_task(never_ends(), name="a task of kopf that loses its cancellation")]

    monkeypatch.setattr(kopf, "spawn_tasks", spawn_tasks)
    monkeypatch.setattr(kopf_runtime, "STOP_SECONDS", 0.05)
    settings = Settings(retry_base=0.01, retry_limit=0.02)

    async def scenario() -> None:
        async with api_server() as server, client_of(server) as client:
            environment = RuntimeEnvironment(server, client, settings)
            running = asyncio.create_task(environment.host.run())
            await environment.until(lambda: "kopf" in {thread.name for thread in threading.enumerate()})
            running.cancel()
            done, _ = await asyncio.wait([running], timeout=10)
            assert done
            await environment.until(lambda: len(cancellations) > 1)
            release.set()
            await environment.until(lambda: "kopf" not in {thread.name for thread in threading.enumerate()})

    asyncio.run(scenario())


def test_it_can_be_cancelled_at_once() -> None:
    async def scenario(_: RuntimeEnvironment) -> None:
        await asyncio.sleep(0)

    run_scenario(scenario, lambda _: None)
