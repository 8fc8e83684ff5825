"""The proxy does to requests and streams what its rules say, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp
import pytest
from testkit.api import Api, ApiError
from testkit.api.resource import CONFIG_MAPS
from testkit.proxy import (
    Answer,
    Close,
    Cut,
    Delay,
    Drop,
    Duplicate,
    Fault,
    Hang,
    Proxy,
    Reorder,
    Reset,
    Rule,
    Silence,
    Stale,
    StreamError,
    Truncate,
)

from .upstream import Upstream, behind_proxy, event

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses

EVENTS = [event("ADDED", "a", 1), event("ADDED", "b", 2), event("MODIFIED", "a", 3), event("DELETED", "b", 4)]
LOST = (aiohttp.ClientError, TimeoutError, ConnectionError)


def run(folder: Path, upstream: Upstream, scenario: Callable[[Proxy, Api], Awaitable[None]], seed: int = 0) -> None:
    async def inside() -> None:
        async with behind_proxy(folder, upstream, seed) as (proxy, api):
            await scenario(proxy, api)

    asyncio.run(inside())


async def post(api: Api, name: str = "one", seconds: float = 30.0) -> None:
    await api.request("POST", CONFIG_MAPS.path("space"), {"metadata": {"name": name}}, seconds=seconds)


def test_requests_go_through_and_are_counted_with_their_bodies(tmp_path: Path) -> None:
    async def scenario(proxy: Proxy, api: Api) -> None:
        await post(api)
        assert (await api.list(CONFIG_MAPS, "space")).items[0]["metadata"] == {"name": "one"}
        assert proxy.sendings.counts == {("create", "configmaps", ""): 1, ("list", "configmaps", ""): 1}
        [write] = proxy.sendings.writes
        assert (write.body, write.code, write.took_effect) == (b'{"metadata": {"name": "one"}}', 201, True)

    run(tmp_path, Upstream(), scenario)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("fault", [Answer, Reset, Hang])
def test_fault_before_or_after_the_write_took_effect(tmp_path: Path, fault: type[Fault], after: bool) -> None:
    upstream = Upstream()
    response = Answer(code=500, after=after) if fault is Answer else fault(after=after)

    async def scenario(proxy: Proxy, api: Api) -> None:
        proxy.add(Rule(response, verb="write"))
        with pytest.raises((ApiError, *LOST)):
            await post(api, seconds=3.0 if fault is Hang else 30.0)
        assert len(upstream.posted) == after
        await post(api)

    run(tmp_path, upstream, scenario)
    assert len(upstream.posted) == 1 + after


def test_only_the_requests_that_a_rule_means(tmp_path: Path) -> None:
    async def scenario(proxy: Proxy, api: Api) -> None:
        rule = Rule(Answer(code=409), verb="create", resource="configmaps", skip=1, times=2)
        proxy.add(rule, Rule(Answer(code=500), resource="pods"), Rule(Answer(code=500), subresource="status"))
        outcomes = []
        for _ in range(4):
            try:
                await post(api)
                outcomes.append(201)
            except ApiError as error:
                outcomes.append(error.code)
        assert outcomes == [201, 409, 409, 201]
        assert (rule.matched, rule.hits) == (4, 2)

    run(tmp_path, Upstream(), scenario)


def test_too_many_requests_say_when_to_come_again(tmp_path: Path) -> None:
    async def scenario(proxy: Proxy, api: Api) -> None:
        proxy.add(Rule(Answer(code=429, retry_after=7)))
        async with api.session.get(CONFIG_MAPS.path("space")) as response:
            assert (response.status, response.headers["Retry-After"]) == (429, "7")

    run(tmp_path, Upstream(), scenario)


def test_truncated_answer_breaks_while_it_is_read(tmp_path: Path) -> None:
    upstream = Upstream()

    async def scenario(proxy: Proxy, api: Api) -> None:
        proxy.add(Rule(Truncate()))
        with pytest.raises(LOST):
            await post(api)

    run(tmp_path, upstream, scenario)
    assert len(upstream.posted) == 1


def test_delayed_request_takes_its_time_and_succeeds(tmp_path: Path) -> None:
    upstream = Upstream()

    async def scenario(proxy: Proxy, api: Api) -> None:
        proxy.add(Rule(Delay(seconds=0.4)))
        with pytest.raises(TimeoutError):
            await post(api, seconds=0.1)
        await post(api, "two")

    run(tmp_path, upstream, scenario)
    assert {"metadata": {"name": "two"}} in upstream.posted


def test_stale_list_is_the_one_of_then(tmp_path: Path) -> None:
    async def scenario(proxy: Proxy, api: Api) -> None:
        await post(api, "one")
        await api.list(CONFIG_MAPS, "space")
        frozen = await proxy.freeze()
        await post(api, "two")
        proxy.add(Rule(Stale(frozen=frozen), verb="list"))
        assert [len((await api.list(CONFIG_MAPS, "space")).items) for _ in range(2)] == [1, 2]

    run(tmp_path, Upstream(), scenario)


def test_server_that_is_away_comes_back_at_the_same_address(tmp_path: Path) -> None:
    async def scenario(proxy: Proxy, api: Api) -> None:
        await proxy.down()
        with pytest.raises(LOST):
            await post(api)
        await proxy.up()
        await post(api)

    run(tmp_path, Upstream(), scenario)


def watched(folder: Path, fault: Fault | None, seed: int = 0) -> tuple[list[str], str]:
    """The events of one watch as `ADDED a`, and how it ended."""
    seen: list[str] = []
    ended: list[str] = []

    async def read(api: Api) -> None:
        async for change in api.watch(CONFIG_MAPS, "space", "1"):
            line = f"{change.type} {change.object['metadata']['name']}"
            seen.append(line)

    async def scenario(proxy: Proxy, api: Api) -> None:
        proxy.add(*([] if fault is None else [Rule(fault)]))
        try:
            # The upstream closes each watch after 0.6 s; of a silent one not even that is reported.
            await asyncio.wait_for(read(api), 3.0 if isinstance(fault, Silence) else 60.0)
            ended.append("closed")
        except (ApiError, *LOST, ValueError) as error:
            ended.append(str(error.code) if isinstance(error, ApiError) else type(error).__name__)

    run(folder, Upstream(EVENTS), scenario, seed)
    return seen, ended[0]


ALL = ["ADDED a", "ADDED b", "MODIFIED a", "DELETED b"]


@pytest.mark.parametrize(
    ("fault", "seen", "ended"),
    [
        (None, ALL, "closed"),
        (Drop(types=("DELETED",)), ALL[:3], "closed"),
        (Duplicate(types=("MODIFIED",)), [*ALL[:3], *ALL[2:]], "closed"),
        (StreamError(events=2), ALL[:2], "410"),
        (StreamError(events=0, code=500), [], "500"),
        (Close(events=3), ALL[:3], "closed"),
        (Silence(events=1), ALL[:1], "TimeoutError"),
        (Answer(code=410), ALL, "closed"),
    ],
    ids=str,
)
def test_events_of_a_watch_are_disturbed_as_configured(
    tmp_path: Path, fault: Fault | None, seen: list[str], ended: str
) -> None:
    assert watched(tmp_path, fault) == (seen, ended)


def test_cut_watch_breaks_in_the_middle_of_an_event(tmp_path: Path) -> None:
    seen, ended = watched(tmp_path, Cut(events=2))
    assert seen == ALL[:2]
    assert ended in ("ClientPayloadError", "ClientOSError", "ClientConnectionError", "JSONDecodeError")


def test_reordered_events_depend_on_the_seed_alone(tmp_path: Path) -> None:
    orders = []
    for turn, seed in enumerate((1, 1, 2, 3, 4)):
        folder = tmp_path / str(turn)
        folder.mkdir()
        orders.append(watched(folder, Reorder(window=4, seconds=60.0), seed)[0])
    assert orders[0] == orders[1]
    assert len({tuple(order) for order in orders}) > 1
    for order in orders:
        assert sorted(order) == sorted(ALL)
        assert order.index("ADDED a") < order.index("MODIFIED a")
        assert order.index("ADDED b") < order.index("DELETED b")
