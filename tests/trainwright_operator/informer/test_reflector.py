from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from trainwright_operator.informer import list_watch as feed_module
from trainwright_operator.informer.reflector import Reflector
from trainwright_operator.informer.store import Key, Store
from trainwright_operator.kube.client import Client
from trainwright_operator.kube.resources import CONFIG_MAPS
from trainwright_operator.model.observed import Manifest
from trainwright_operator.settings import Settings

from ..api_server import (
    ApiServer,
    answer,
    api_server,
    bookmark,
    client_of,
    config_map,
    cut,
    event,
    hang,
    page,
    refusal,
    reset,
    status_object,
    stream,
)

SETTINGS = Settings(retry_base=0.001, retry_limit=0.01, watch_timeout=60.0, resync=600.0)
START = datetime(2026, 11, 1, tzinfo=UTC)
Scenario = Callable[["Case"], Awaitable[None]]

sleep = asyncio.sleep
"""The real function, for tests that replace it."""


class Case:
    """A reflector of ConfigMaps, its server, and the changes that it reported."""

    def __init__(self, server: ApiServer, client: Client, settings: Settings) -> None:
        self.server = server
        self.notified: list[tuple[str, str | None, str | None]] = []
        self.now, self.places = START, settings.places
        self._changed = asyncio.Event()
        self.store: Store[str] = Store(self._read, str, self._tell)
        self.reflector = Reflector(client, CONFIG_MAPS, self.store, settings, lambda: self.now, selector="ours")

    def _read(self, raw: Manifest) -> str:
        if raw["data"]["value"] == "bug":
            raise RuntimeError("a bug of ours")
        return str(raw["data"]["value"])

    def _tell(self, key: Key, old: str | None, new: str | None) -> None:
        self.notified.append((key[1], old, new))
        self._changed.set()

    @property
    def values(self) -> dict[str, str]:
        return {name: value for (_, name), value in self.store.items()}

    async def until(self, values: dict[str, str]) -> None:
        for place in self.places:
            await self.reflector.wait_until_synced(place)
        while self.values != values:
            self._changed.clear()
            await asyncio.wait_for(self._changed.wait(), 60)


async def reached(what: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not what():
            await sleep(0.001)


def run_scenario(scenario: Scenario, settings: Settings = SETTINGS, timeout: float = 5.0) -> None:
    async def whole() -> None:
        async with api_server() as server, client_of(server, timeout=timeout) as client:
            case = Case(server, client, settings)
            running = asyncio.create_task(case.reflector.run())
            try:
                await scenario(case)
                assert not running.done()
            finally:
                running.cancel()
                with suppress(asyncio.CancelledError):
                    await running

    asyncio.run(whole())


def test_it_lists_and_watches_from_there() -> None:
    async def scenario(case: Case) -> None:
        case.server.answers = [page([config_map("a", 3)], 5)]
        case.server.watches = [stream(event("ADDED", config_map("b", 6)), event("DELETED", config_map("a", 7)), None)]
        assert not case.reflector.synced(None)
        await case.until({"b": "b@6"})
        assert case.notified == [("a", None, "a@3"), ("b", None, "b@6"), ("a", "a@3", None)]
        # Without resourceVersion, the list is consistent and not served from a cache.
        assert dict(case.server.lists[0].query) == {"limit": "100", "labelSelector": "ours"}
        assert case.server.watched[0].query["resourceVersion"] == "5"
        assert case.server.watched[0].query["timeoutSeconds"] == "60"
        assert case.reflector.installed

    run_scenario(scenario)


def test_it_is_synced_with_the_last_page_and_not_before() -> None:
    async def scenario(case: Case) -> None:
        case.server.answers = [page([config_map("a", 3)], 5, "more"), hang]
        await reached(lambda: len(case.server.lists) == 2)
        assert (case.reflector.synced(None), case.values) == (False, {})

    run_scenario(scenario)


def test_a_list_that_began_anew_holds_nothing_of_its_first_pages() -> None:
    async def scenario(case: Case) -> None:
        case.server.answers = [
            page([config_map("deleted", 3)], 5, "more"),
            refusal(410),
            page([config_map("a", 8)], 9),
        ]
        await case.until({"a": "a@8"})
        assert case.notified == [("a", None, "a@8")]

    run_scenario(scenario)


def test_a_watch_goes_on_where_the_last_one_ended_bookmarks_included() -> None:
    async def scenario(case: Case) -> None:
        case.server.answers = [page([], 5)]
        case.server.watches = [
            stream(event("ADDED", config_map("a", 6))),
            stream(bookmark(11)),
            stream(bookmark(14), bookmark(12)),
            stream(event("ADDED", config_map("b", 15)), None),
        ]
        await case.until({"a": "a@6", "b": "b@15"})
        assert [request.query["resourceVersion"] for request in case.server.watched] == ["5", "6", "11", "14"]
        assert len(case.server.lists) == 1

    run_scenario(scenario)


@pytest.mark.parametrize("in_stream", [True, False])
def test_after_a_410_it_lists_again_and_shows_what_has_gone(in_stream: bool) -> None:
    async def scenario(case: Case) -> None:
        expired = stream(event("ERROR", status_object(410, "Expired"))) if in_stream else refusal(410, "Expired")
        case.server.answers = [page([config_map("a", 3), config_map("b", 4)], 5), page([config_map("b", 9)], 20)]
        case.server.watches = [expired]
        await case.until({"b": "b@9"})
        assert case.notified[2:] == [("b", "b@4", "b@9"), ("a", "a@3", None)]
        await reached(lambda: len(case.server.watched) == 2)
        assert case.server.watched[1].query["resourceVersion"] == "20"

    run_scenario(scenario)


@pytest.mark.parametrize(
    "fault",
    [
        refusal(500),
        refusal(503),
        refusal(429),
        refusal(403),
        refusal(401),
        reset,
        cut(b'{"items": ['),
        answer(b"<html>"),
        answer({"items": 3}),
        answer({"metadata": {"resourceVersion": "5"}, "items": {}}),
    ],
    ids=["500", "503", "429", "403", "401", "reset", "cut", "html", "no list", "no items"],
)
def test_it_survives_every_error_of_a_list(fault: Any) -> None:
    async def scenario(case: Case) -> None:
        case.server.answers = [fault] * 5 + [page([config_map("a", 3)], 5)]
        await case.until({"a": "a@3"})

    run_scenario(scenario)


@pytest.mark.parametrize(
    ("fault", "lists"),
    [
        (refusal(500), 6),
        (refusal(404), 6),
        (stream(event("ERROR", status_object(500))), 6),
        (refusal(503), 1),
        (refusal(429), 1),
        (reset, 1),
        (cut(b'{"type": "ADDED"'), 1),
        (stream(b"<html>\n"), 1),
        (stream(), 1),
    ],
    ids=["500", "404", "500 in the stream", "503", "429", "reset", "cut", "html", "closed at once"],
)
def test_it_survives_every_error_of_a_watch_and_lists_again_where_that_may_help(fault: Any, lists: int) -> None:
    async def scenario(case: Case) -> None:
        case.server.answers = [page([], 5)] * 6
        case.server.watches = [fault] * 5 + [stream(event("ADDED", config_map("a", 6)), None)]
        await case.until({"a": "a@6"})
        assert len(case.server.lists) == lists

    run_scenario(scenario)


def test_a_watch_that_falls_silent_is_opened_anew() -> None:
    async def scenario(case: Case) -> None:
        case.server.answers = [page([], 5)]
        case.server.watches = [stream(None), stream(event("ADDED", config_map("a", 6)), None)]
        await case.until({"a": "a@6"})
        assert len(case.server.lists) == 1

    run_scenario(scenario, replace(SETTINGS, watch_timeout=0.1), timeout=0.5)


def test_a_hanging_list_is_asked_again() -> None:
    async def scenario(case: Case) -> None:
        case.server.answers = [hang, page([config_map("a", 3)], 5)]
        await case.until({"a": "a@3"})

    run_scenario(scenario, timeout=0.5)


def pauses_of(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record the pauses from now on, without waiting."""
    pauses: list[float] = []

    async def noted(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0)

    monkeypatch.setattr(feed_module.asyncio, "sleep", noted)
    monkeypatch.setattr(feed_module.random, "uniform", lambda low, high: (low + high) / 2)
    return pauses


def test_pauses_double_up_to_the_limit_and_the_api_server_may_ask_for_longer_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses = pauses_of(monkeypatch)

    async def scenario(case: Case) -> None:
        case.server.answers = [reset] * 5 + [answer(status_object(429), 429, Retry_After="7"), page([], 5)]
        await case.reflector.wait_until_synced(None)
        assert pauses == [1, 2, 4, 5, 5, 7]

    run_scenario(scenario, replace(SETTINGS, retry_base=1, retry_limit=5))


@pytest.mark.parametrize("watch", [stream(), refusal(410), refusal(500)], ids=["closed", "410", "500"])
def test_watches_that_fail_one_after_the_other_are_no_hot_loop(monkeypatch: pytest.MonkeyPatch, watch: Any) -> None:
    """Each list in between succeeds, and the pauses still grow."""
    pauses = pauses_of(monkeypatch)

    async def scenario(case: Case) -> None:
        case.server.watches = [watch] * 4 + [stream(bookmark(3)), watch, stream(None)]
        await reached(lambda: len(case.server.watched) == 7)
        assert pauses == [1, 2, 4, 5, 1]

    run_scenario(scenario, replace(SETTINGS, retry_base=1, retry_limit=5))


def test_an_event_that_never_came_is_mended_by_the_next_whole_list() -> None:
    async def scenario(case: Case) -> None:
        case.server.answers = [page([config_map("a", 3)], 5), page([config_map("b", 6)], 8)]
        case.server.watches = [stream(bookmark(7))] * 10_000
        await case.until({"b": "b@6"})

    run_scenario(scenario, replace(SETTINGS, resync=0.05))


def test_a_resource_that_is_not_installed_is_empty_and_looked_for_again() -> None:
    async def scenario(case: Case) -> None:
        case.server.answers = [refusal(404), refusal(404), page([config_map("a", 3)], 5)]
        await case.reflector.wait_until_synced(None)
        assert (case.reflector.installed, case.values) == (False, {})
        await case.until({"a": "a@3"})
        assert case.reflector.installed

    run_scenario(scenario, replace(SETTINGS, resync=0.05))


def test_a_resource_that_is_uninstalled_is_empty() -> None:
    async def scenario(case: Case) -> None:
        case.server.answers = [page([config_map("a", 3)], 5), refusal(404)]
        case.server.watches = [refusal(404)]
        await reached(lambda: not case.reflector.installed)
        assert case.values == {}
        assert case.notified[-1] == ("a", "a@3", None)

    run_scenario(scenario)


def test_each_namespace_is_listed_and_watched_on_its_own() -> None:
    async def scenario(case: Case) -> None:
        def first(request: Any) -> Any:
            space = request.match_info["path"].split("/")[3]
            return page([config_map("a" if space == "one" else "b", 3, namespace=space)], 5)(request)

        case.server.answers = [first, first]
        await case.until({"a": "a@3", "b": "b@3"})
        await reached(lambda: len(case.server.watched) == 2)
        expected = {f"/api/v1/namespaces/{space}/configmaps" for space in ("one", "two")}
        assert {request.path for request in case.server.watched} == expected
        assert {request.path for request in case.server.lists} == expected

    run_scenario(scenario, replace(SETTINGS, namespaces=("one", "two")))


def test_it_is_synced_in_each_namespace_that_is_listed() -> None:
    async def scenario(case: Case) -> None:
        case.server.answers = [page([], 5), hang]
        await reached(lambda: len(case.server.watched) == 1)
        [listed] = case.server.watched
        assert {place: case.reflector.synced(place) for place in ("one", "two")} == {
            place: f"/{place}/" in listed.path for place in ("one", "two")
        }

    run_scenario(scenario, replace(SETTINGS, namespaces=("one", "two")))


def test_what_we_wrote_is_seen_before_the_watch_brings_it_and_reported_once() -> None:
    async def scenario(case: Case) -> None:
        case.server.answers = [page([config_map("a", 3)], 5)]
        written = config_map("a", 7)
        case.server.watches = [hang, stream(event("MODIFIED", config_map("a", 6)), event("MODIFIED", written))]
        await case.reflector.wait_until_synced(None)
        case.reflector.note(written)
        assert case.values == {"a": "a@7"}
        case.reflector.note(config_map("a", 4))
        await reached(lambda: len(case.server.watched) == 1)
        case.server.closing.set()
        await reached(lambda: len(case.server.watched) >= 3)
        assert case.notified == [("a", None, "a@3"), ("a", "a@3", "a@7")]

    run_scenario(scenario)


@pytest.mark.parametrize("answered", [page([], 5), refusal(500), refusal(404)], ids=["list", "500", "404"])
def test_any_answer_is_a_sign_of_life(answered: Any) -> None:
    async def scenario(case: Case) -> None:
        case.server.answers = [answered, page([], 5)]
        case.now += timedelta(seconds=30)
        await reached(lambda: case.reflector.last_seen == case.now)

    run_scenario(scenario)


def test_a_bookmark_is_a_sign_of_life() -> None:
    async def scenario(case: Case) -> None:
        case.server.watches = [hang, stream(bookmark(7), None)]
        await reached(lambda: len(case.server.watched) == 1)
        case.now += timedelta(seconds=30)
        case.server.closing.set()
        await reached(lambda: case.reflector.last_seen == case.now)

    run_scenario(scenario)


def test_no_answer_is_no_sign_of_life() -> None:
    async def scenario(case: Case) -> None:
        case.server.answers = [reset] * 1000
        case.now += timedelta(seconds=30)
        await reached(lambda: len(case.server.lists) > 3)
        assert case.reflector.last_seen == START

    run_scenario(scenario)


def test_the_namespace_that_is_silent_for_longest_counts() -> None:
    async def scenario(case: Case) -> None:
        case.now += timedelta(seconds=30)
        case.server.answers = [page([], 5), hang]
        await reached(lambda: len(case.server.watched) == 1)
        assert case.reflector.last_seen == START

    run_scenario(scenario, replace(SETTINGS, namespaces=("one", "two")))


def test_a_bug_ends_it() -> None:
    async def whole() -> None:
        async with api_server() as server, client_of(server) as client:
            server.answers = [page([config_map("a", 3, value="bug")], 5)]
            case = Case(server, client, SETTINGS)
            with pytest.raises(ExceptionGroup) as caught:
                await asyncio.wait_for(case.reflector.run(), 60)
            assert caught.group_contains(RuntimeError, match="a bug of ours")

    asyncio.run(whole())


def test_rubbish_among_the_objects_harms_no_other() -> None:
    async def scenario(case: Case) -> None:
        rubbish = {"metadata": {"name": "r", "uid": "u", "resourceVersion": "4"}, "data": None}
        case.server.answers = [page([rubbish, config_map("a", 3)], 5)]
        case.server.watches = [stream(event("ADDED", {}), event("ADDED", {**rubbish, "data": 3}), bookmark(9), None)]
        await case.until({"a": "a@3"})
        await reached(lambda: len(case.server.watched) == 1)

    run_scenario(scenario)
