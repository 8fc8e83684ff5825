from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from trainwright_operator.kube.leader_election import NAME, Lease, LeaseLost
from trainwright_operator.settings import Settings

from ..fake_api import FakeApi, unreachable
from ..fake_time import FakeTime, settle

Scenario = Callable[[FakeApi, FakeTime], Awaitable[None]]


def run_scenario(scenario: Scenario) -> None:
    asyncio.run(scenario(FakeApi(), FakeTime()))


def lease(api: FakeApi, time: FakeTime, identity: str, duration: float = 12.0) -> Lease:
    settings = Settings(identity=identity, lease_duration=duration)
    return Lease(api, settings, time.monotonic, time.sleep)  # type: ignore[arg-type]


def spec(api: FakeApi) -> dict[str, Any]:
    found = api.stored("Lease", NAME, "trainwright")
    assert found is not None
    return found["spec"]


def holder(api: FakeApi) -> str:
    return spec(api)["holderIdentity"]


async def killed(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def leading(api: FakeApi, time: FakeTime, identity: str) -> tuple[Lease, asyncio.Task[Any]]:
    one = lease(api, time, identity)
    await one.acquire()
    return one, asyncio.create_task(one.hold())


def test_the_first_one_leads_and_says_so_in_the_lease() -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        await lease(api, time, "one").acquire()
        assert holder(api) == "one"
        assert (spec(api)["leaseDurationSeconds"], spec(api)["leaseTransitions"]) == (12, 0)

    run_scenario(scenario)


def test_who_waits_says_once_for_whom(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        _, held = await leading(api, time, "one")
        waiting = asyncio.create_task(lease(api, time, "two").acquire())
        await time.advance(30)
        for task in (held, waiting):
            await killed(task)

    caplog.set_level(logging.INFO)
    run_scenario(scenario)
    lines = [line for line in caplog.messages if line.startswith("waiting")]
    assert lines == [f"waiting for the Lease trainwright/{NAME}, which one holds"]


def test_the_second_waits_while_the_first_renews() -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        _, holding = await leading(api, time, "one")
        waiting = asyncio.create_task(lease(api, time, "two").acquire())
        await time.advance(120)
        assert not waiting.done()
        assert holder(api) == "one"
        await killed(waiting)
        await killed(holding)

    run_scenario(scenario)


def test_after_a_crash_the_next_leads_within_fifteen_seconds() -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        _, holding = await leading(api, time, "one")
        two = lease(api, time, "two")
        waiting = asyncio.create_task(two.acquire())
        # The crash comes just after a renewal, which the other process sees as late as possible.
        await time.advance(31)
        await killed(holding)
        await time.advance(15)
        assert waiting.done()
        assert holder(api) == "two"
        assert spec(api)["leaseTransitions"] == 1

    run_scenario(scenario)


def test_the_next_one_looks_at_the_very_moment_when_the_lease_ends() -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        one = lease(api, time, "one", duration=13)
        await one.acquire()
        holding = asyncio.create_task(one.hold())
        await time.advance(2.9)
        waiting = asyncio.create_task(lease(api, time, "two", duration=13).acquire())
        # The other process sees the renewal of 30 s at 32.9 s.
        await time.advance(27.2)
        await killed(holding)
        await time.advance(16)
        assert waiting.done()

    run_scenario(scenario)


def test_a_crash_is_not_believed_before_the_lease_has_run_out() -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        _, holding = await leading(api, time, "one")
        await killed(holding)
        waiting = asyncio.create_task(lease(api, time, "two").acquire())
        await time.advance(11.9)
        assert not waiting.done()
        await time.advance(0.2)
        assert waiting.done()

    run_scenario(scenario)


def test_after_a_release_the_next_leads_at_its_next_look() -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        one, holding = await leading(api, time, "one")
        waiting = asyncio.create_task(lease(api, time, "two").acquire())
        await time.advance(4)
        await killed(holding)
        await one.release()
        assert holder(api) == ""
        assert not one.holds
        await time.advance(3)
        assert waiting.done()

    run_scenario(scenario)


def test_a_renewal_that_was_cancelled_and_arrives_late_hinders_no_release() -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        one = lease(api, time, "one")
        await one.acquire()

        def arrives(verb: str, _: str) -> None:
            found = api.stored("Lease", NAME, "trainwright")
            if verb == "replace" and found is not None:
                api.fault = None
                api.add(found)

        api.fault = arrives
        await one.release()
        assert api.fault is None
        assert holder(api) == ""

    run_scenario(scenario)


def test_a_restart_under_the_same_name_leads_at_once() -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        await lease(api, time, "one").acquire()
        await lease(api, time, "one").acquire()
        assert time.passed == 0

    run_scenario(scenario)


@pytest.mark.parametrize("hangs", [True, False])
def test_the_holder_gives_up_before_anybody_else_begins(hangs: bool) -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        one, holding = await leading(api, time, "one")
        await time.advance(30.5)
        api.hangs, api.fault = hangs, None if hangs else unreachable
        await time.advance(7.4)
        assert not holding.done()
        assert one.holds
        await time.advance(0.2)
        assert not one.holds
        with pytest.raises(LeaseLost, match="not renewed for 8 s"):
            await holding

    run_scenario(scenario)


def test_a_renewal_counts_from_when_it_was_sent() -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        one, holding = await leading(api, time, "one")
        api.delay = lambda: time.sleep(4)
        # A renewal is sent at 3 s and answered at 7 s. The next is sent at 10 s, and its response would come at 14 s.
        await time.advance(11.1)
        assert not one.holds
        with pytest.raises(LeaseLost):
            await holding

    run_scenario(scenario)


def test_one_failure_is_made_good_by_the_next_renewal() -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        _, holding = await leading(api, time, "one")
        api.fault = unreachable
        await time.advance(3.5)
        api.fault = None
        await time.advance(60)
        assert not holding.done()
        await killed(holding)

    run_scenario(scenario)


def test_a_renewal_whose_answer_was_lost_is_no_loss() -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        _, holding = await leading(api, time, "one")
        found = api.stored("Lease", NAME, "trainwright")
        assert found is not None
        api.add(found)
        await time.advance(60)
        assert not holding.done()
        await killed(holding)

    run_scenario(scenario)


def test_a_holder_that_sees_another_holder_gives_up_at_once() -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        one, holding = await leading(api, time, "one")
        found = api.stored("Lease", NAME, "trainwright")
        assert found is not None
        api.add({**found, "spec": {**found["spec"], "holderIdentity": "two"}})
        await time.advance(3)
        assert not one.holds
        with pytest.raises(LeaseLost, match="held by two"):
            await holding

    run_scenario(scenario)


def test_a_process_that_was_frozen_writes_nothing_when_it_wakes() -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        one, holding = await leading(api, time, "one")
        await settle()
        asked = len(api.requests)
        time.passed += 20
        assert not one.holds
        await time.advance(0)
        assert holding.done()
        with pytest.raises(LeaseLost):
            await holding
        assert len(api.requests) == asked

    run_scenario(scenario)


def test_a_lease_that_was_deleted_is_made_anew() -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        _, holding = await leading(api, time, "one")
        api.objects.clear()
        await time.advance(3)
        assert holder(api) == "one"
        await killed(holding)

    run_scenario(scenario)


def test_of_two_that_reach_for_it_one_gets_it() -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        tries = [asyncio.create_task(lease(api, time, name).acquire()) for name in ("one", "two")]
        await settle()
        assert sorted(task.done() for task in tries) == [False, True]
        for task in tries:
            await killed(task)

    run_scenario(scenario)


def test_an_api_server_that_is_down_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        api.fault = unreachable
        waiting = asyncio.create_task(lease(api, time, "one").acquire())
        await time.advance(10)
        assert not waiting.done()
        api.fault = None
        await time.advance(3)
        assert waiting.done()

    with caplog.at_level(logging.WARNING):
        run_scenario(scenario)
    assert "the Lease cannot be had" in caplog.text


def test_a_release_that_fails_is_only_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        one = lease(api, time, "one")
        await one.acquire()
        api.fault = unreachable
        await one.release()

    run_scenario(scenario)
    assert "could not be released" in caplog.text


def test_a_process_without_the_lease_releases_nothing() -> None:
    async def scenario(api: FakeApi, time: FakeTime) -> None:
        await lease(api, time, "one").acquire()
        await lease(api, time, "two").release()
        assert holder(api) == "one"

    run_scenario(scenario)
