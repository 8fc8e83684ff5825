from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest

from trainwright_operator.informer.jobs import Jobs
from trainwright_operator.informer.store import key_of
from trainwright_operator.kopf_adapter import session as kopf_session
from trainwright_operator.kopf_adapter.relay import Relay
from trainwright_operator.kube.resources import TRAINING_JOBS
from trainwright_operator.settings import Settings

from ..api_server import Answer, ApiServer, answer, api_server, bookmark, client_of, cut, event, page, refusal, stream
from ..fake_time import START, FakeTime, settle

DEEP = 9_000
PATH = TRAINING_JOBS.path()
WATCH = f"{PATH}?watch=true"


def job(name: str, version: int = 5) -> Any:
    return {"metadata": {"namespace": "team", "name": name, "uid": name, "resourceVersion": str(version)}, "spec": {}}


def nested(raw: Any, levels: int = DEEP) -> bytes:
    text = json.dumps({**raw, "spec": "HERE"})
    return text.replace('"HERE"', '{"a":' * levels + "1" + "}" * levels).encode()


class SessionEnvironment:
    def __init__(self, server: ApiServer, settings: Settings, requests: list[tuple[str, int]]) -> None:
        self.server, self.settings, self.time, self.requests = server, settings, FakeTime(), requests
        self.jobs = Jobs(settings, self.time.now, lambda *_: None)
        self.watching: kopf_session.WatchSession

    @property
    def session(self) -> aiohttp.ClientSession:
        return self.watching.session

    def list_is_whole(self) -> None:
        self.watching.list_due[None] = asyncio.get_running_loop().time() + self.settings.resync

    async def asked(self, path: str, *answers: Answer) -> Any:
        self.server.answers += answers
        async with await self.session.get(self.server.url + path) as response:
            return json.loads(await response.read()) if response.status >= 400 else await response.json()

    async def watched(self, *answers: Answer) -> list[Any]:
        """Read a watch as kopf does."""
        self.server.watches += answers
        async with await self.session.get(self.server.url + WATCH) as response:
            whole = b"".join([chunk async for chunk in response.content.iter_chunked(1024)])
        assert whole.endswith(b"\n") or not whole
        return [json.loads(line) for line in whole.splitlines()]


def run_scenario(scenario: Callable[[SessionEnvironment], Awaitable[None]], resync: float = 600) -> None:
    async def whole() -> None:
        requests: list[tuple[str, int]] = []
        settings = Settings(resync=resync, retry_base=0.001, retry_limit=0.002)
        async with (
            api_server() as server,
            client_of(server, on_response=lambda method, _, status, __: requests.append((method, status))) as client,
        ):
            environment = SessionEnvironment(server, settings, requests)
            relay = Relay(environment.jobs, asyncio.get_running_loop())
            async with kopf_session.session(client, relay, settings) as environment.watching:
                await scenario(environment)

    asyncio.run(whole())


def test_the_names_in_a_list_are_reported_page_by_page() -> None:
    async def scenario(environment: SessionEnvironment) -> None:
        await environment.asked(PATH, page([job("a")], 7, token="more"))
        assert not environment.jobs.synced(None)
        found = await environment.asked(f"{PATH}?continue=more", page([job("b")], 7))
        assert found["items"] == [job("b")]
        assert environment.jobs.synced(None)
        assert environment.jobs.keys(None) == [key_of(job("a")), key_of(job("b"))]

    run_scenario(scenario)


def test_after_a_whole_list_the_next_one_is_due_after_the_resync() -> None:
    async def scenario(environment: SessionEnvironment) -> None:
        await environment.asked(PATH, page([job("a")], 7, token="more"))
        assert environment.watching.list_due == {}
        await environment.asked(f"{PATH}?continue=more", page([job("b")], 7))
        assert 85 < environment.watching.list_due[None] - asyncio.get_running_loop().time() < 115

    run_scenario(scenario, resync=100)


def test_it_is_known_whether_kopf_has_asked_for_jobs() -> None:
    async def scenario(environment: SessionEnvironment) -> None:
        await environment.asked("/apis", answer({"groups": []}))
        assert not environment.watching.asked
        await environment.asked(PATH, refusal(503))
        assert environment.watching.asked

    run_scenario(scenario)


def test_other_lists_are_not_taken_for_jobs() -> None:
    async def scenario(environment: SessionEnvironment) -> None:
        assert (await environment.asked("/apis", answer({"groups": []}))) == {"groups": []}
        assert not environment.jobs.synced(None)

    run_scenario(scenario)


def test_an_object_in_a_list_may_be_nested_as_deeply_as_the_api_server_takes_it() -> None:
    async def scenario(environment: SessionEnvironment) -> None:
        items = b", ".join([json.dumps(job("a")).encode(), nested(job("deep")), json.dumps(job("b")).encode()])
        raw = b'{"metadata": {"resourceVersion": "7"}, "items": [%s]}' % items
        found = await environment.asked(PATH, answer(raw))
        assert [item["metadata"]["name"] for item in found["items"]] == ["a", "deep", "b"]

    run_scenario(scenario)


@pytest.mark.parametrize("levels", [300, 900, DEEP])
def test_so_may_one_in_a_watch(levels: int) -> None:
    async def scenario(environment: SessionEnvironment) -> None:
        environment.list_is_whole()
        deep = b'{"type": "ADDED", "object": %s}\n' % nested(job("deep"), levels)
        found = await environment.watched(stream(event("ADDED", job("a")), deep, event("ADDED", job("b"))))
        assert [one["object"]["metadata"]["name"] for one in found] == ["a", "deep", "b"]

    run_scenario(scenario)


@pytest.mark.parametrize("broken", [cut(b'{"metadata": {"res'), answer(b"<html>"), answer({"items": []})])
def test_an_answer_that_cannot_be_read_is_an_error_that_kopf_tries_again(broken: Answer) -> None:
    async def scenario(environment: SessionEnvironment) -> None:
        with pytest.raises(aiohttp.ClientConnectionError):
            await environment.asked(PATH, broken)

    run_scenario(scenario)


def test_refusals_reach_kopf_as_they_are() -> None:
    async def scenario(environment: SessionEnvironment) -> None:
        assert (await environment.asked(PATH, refusal(403, "Forbidden")))["reason"] == "Forbidden"

    run_scenario(scenario)


def test_an_event_that_is_no_json_is_left_out_and_all_is_listed_again(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(environment: SessionEnvironment) -> None:
        environment.list_is_whole()
        found = await environment.watched(
            stream(event("ADDED", job("a")), b'{"type": "ADD\n', event("ADDED", job("b")))
        )
        assert [one["type"] for one in found] == ["ADDED", "ERROR", "ADDED"]
        assert found[1]["object"]["code"] == 410

    run_scenario(scenario)
    assert "is no JSON" in caplog.text


def test_an_event_that_is_cut_off_does_not_come() -> None:
    async def scenario(environment: SessionEnvironment) -> None:
        environment.list_is_whole()
        assert await environment.watched(stream(event("ADDED", job("a")), b'{"type": "ADDED", "ob')) == [
            event("ADDED", job("a"))
        ]

    run_scenario(scenario)


def test_a_watch_ends_as_too_old_once_the_next_list_is_due() -> None:
    async def scenario(environment: SessionEnvironment) -> None:
        environment.list_is_whole()
        found = await environment.watched(stream(event("ADDED", job("a")), None))
        assert [one["type"] for one in found] == ["ADDED", "ERROR"]
        assert found[1]["object"]["code"] == 410

    run_scenario(scenario, resync=0.5)


def test_an_error_in_the_stream_reaches_kopf_which_ends() -> None:
    async def scenario(environment: SessionEnvironment) -> None:
        environment.list_is_whole()
        error = event("ERROR", {"code": 500})
        assert await environment.watched(stream(error)) == [error]

    run_scenario(scenario)


def test_before_a_watch_that_ends_at_once_is_opened_anew_there_is_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(environment: SessionEnvironment) -> None:
        environment.list_is_whole()
        pauses: list[float] = []
        sleep = asyncio.sleep

        async def paused(seconds: float) -> None:
            pauses.append(seconds)
            await sleep(0)

        monkeypatch.setattr(kopf_session.asyncio, "sleep", paused)
        for answered in (stream(), cut(b""), stream(bookmark(9)), stream()):
            await environment.watched(answered)
        assert [pause for pause in pauses if pause] == [0.001, 0.002, 0.001]

    run_scenario(scenario)


def test_every_answer_counts_and_every_request_is_counted() -> None:
    async def scenario(environment: SessionEnvironment) -> None:
        environment.list_is_whole()
        environment.time.passed = 30
        assert environment.jobs.last_seen == START
        await environment.asked(PATH, refusal(503))
        await settle()
        assert environment.jobs.last_seen == environment.time.now()
        environment.time.passed = 60
        await environment.watched(stream(bookmark(9)))
        await settle()
        assert environment.jobs.last_seen == environment.time.now()
        assert environment.requests == [("GET", 503), ("WATCH", 200)]

    run_scenario(scenario)


def test_a_request_without_an_answer_is_reported_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(environment: SessionEnvironment) -> None:
        with pytest.raises(aiohttp.ClientConnectionError):
            await environment.session.get("http://127.0.0.1:1/apis")
        assert environment.requests == [("GET", 0)]
        assert environment.jobs.last_seen == START

    run_scenario(scenario)
    [record] = [record for record in caplog.records if record.name == "trainwright_operator.kopf_adapter.session"]
    assert record.getMessage().startswith("GET /apis: ClientConnectorError")
    assert (record.levelname, record.exc_info) == ("WARNING", None)
