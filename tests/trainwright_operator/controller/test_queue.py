from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from trainwright_operator.controller.queue import WorkQueue

from ..fake_loop import now, run_scenario


def queue() -> WorkQueue[str]:
    return WorkQueue(now, base=1.0, limit=10.0, jitter=lambda: 0.5)


def in_(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)


async def is_idle(work: WorkQueue[str], seconds: float = 0.1) -> bool:
    """True if no key arrives within `seconds`."""
    try:
        await asyncio.wait_for(work.get(), seconds)
    except TimeoutError:
        return True
    return False


def test_keys_come_in_the_order_in_which_they_were_added() -> None:
    async def scenario() -> None:
        work = queue()
        for key in "cab":
            work.add(key)
        assert [await work.get() for _ in range(3)] == ["c", "a", "b"]

    run_scenario(scenario())


def test_a_key_that_is_added_twice_comes_once() -> None:
    async def scenario() -> None:
        work = queue()
        work.add("a")
        work.add("a")
        assert work.depth == 1
        work.done(await work.get())
        assert work.depth == 0
        assert await is_idle(work)

    run_scenario(scenario())


def test_a_key_is_worked_on_by_one_worker_at_a_time_and_once_more_when_it_was_added_meanwhile() -> None:
    async def scenario() -> None:
        work = queue()
        work.add("a")
        key = await work.get()
        work.add("a")
        work.add("a")
        assert work.depth == 1
        assert await is_idle(work)
        work.done(key)
        assert await work.get() == "a"
        work.done("a")
        assert await is_idle(work)

    run_scenario(scenario())


def test_many_workers_never_share_a_key() -> None:
    async def scenario() -> None:
        work, busy, seen = queue(), set[str](), list[str]()

        async def worker() -> None:
            while True:
                key = await work.get()
                assert key not in busy
                busy.add(key)
                await asyncio.sleep(1)
                seen.append(key)
                busy.remove(key)
                work.done(key)

        workers = [asyncio.create_task(worker()) for _ in range(4)]
        for _ in range(4):
            for key in "abc":
                work.add(key)
            await asyncio.sleep(0.3)
        await asyncio.sleep(10)
        assert sorted(seen) == ["a", "a", "b", "b", "c", "c"]
        assert not [worker for worker in workers if worker.done()]
        for worker_task in workers:
            worker_task.cancel()

    run_scenario(scenario())


def test_a_key_comes_at_its_time() -> None:
    async def scenario() -> None:
        work, start = queue(), now()
        work.add_at("late", start + in_(7200))
        work.add_at("soon", start + in_(5))
        assert work.depth == 0
        assert [(await work.get(), (now() - start).total_seconds()) for _ in range(2)] == [
            ("soon", pytest.approx(5)),
            ("late", pytest.approx(7200)),
        ]

    run_scenario(scenario())


def test_a_time_that_has_passed_is_now() -> None:
    async def scenario() -> None:
        work, start = queue(), now()
        work.add_at("a", start - in_(5))
        assert await work.get() == "a"
        assert now() == start

    run_scenario(scenario())


@pytest.mark.parametrize("times", [(9, 5), (5, 9), (5, 5)])
def test_the_earliest_time_wins_and_the_key_comes_once(times: tuple[int, int]) -> None:
    async def scenario() -> None:
        work, start = queue(), now()
        for seconds in times:
            work.add_at("a", start + in_(seconds))
        work.done(await work.get())
        assert (now() - start).total_seconds() == pytest.approx(5)
        assert await is_idle(work, 60)

    run_scenario(scenario())


def test_a_key_that_is_taken_early_has_no_time_any_more() -> None:
    async def scenario() -> None:
        work, start = queue(), now()
        work.add_at("a", start + in_(5))
        work.add("a")
        work.done(await work.get())
        assert await is_idle(work, 60)

    run_scenario(scenario())


def test_a_time_that_is_set_while_the_key_is_worked_on_counts() -> None:
    async def scenario() -> None:
        work, start = queue(), now()
        work.add("a")
        await work.get()
        work.add_at("a", start + in_(5))
        await asyncio.sleep(8)
        assert await is_idle(work)
        work.done("a")
        assert await work.get() == "a"

    run_scenario(scenario())


def test_the_pause_doubles_with_every_failure_up_to_the_limit_and_begins_anew_after_a_success() -> None:
    async def scenario() -> None:
        work, pauses = queue(), list[float]()
        work.add("a")
        for _ in range(6):
            key, taken = await work.get(), now()
            work.retry(key)
            work.done(key)
            work.add_at("other", now() + in_(0.01))
            work.done(await work.get())
            assert await work.get() == "a"
            pauses.append((now() - taken).total_seconds())
            work.done("a")
            work.add("a")
        assert pauses == pytest.approx([1, 2, 4, 8, 10, 10])
        work.forget("a")
        assert work.retry("a") == pytest.approx(1)

    run_scenario(scenario())


def test_each_key_fails_on_its_own() -> None:
    async def scenario() -> None:
        work = queue()
        assert [work.retry("a"), work.retry("a"), work.retry("b")] == pytest.approx([1, 2, 1])

    run_scenario(scenario())


def test_a_pause_is_at_least_what_the_api_server_asks_for() -> None:
    async def scenario() -> None:
        work = queue()
        assert work.retry("a", at_least=30) == 30

    run_scenario(scenario())


@pytest.mark.parametrize(("draw", "pause"), [(0.0, 0.8), (1.0, 1.2)])
def test_pauses_are_spread(draw: float, pause: float) -> None:
    async def scenario() -> None:
        work: WorkQueue[str] = WorkQueue(now, base=1.0, limit=10.0, jitter=lambda: draw)
        assert work.retry("a") == pytest.approx(pause)

    run_scenario(scenario())


def test_a_clock_that_is_set_forward_is_noticed_within_a_minute() -> None:
    async def scenario() -> None:
        ahead = timedelta()
        work: WorkQueue[str] = WorkQueue(lambda: now() + ahead)
        work.add_at("a", now() + in_(86400))
        ahead = timedelta(days=2)
        started = now()
        assert await work.get() == "a"
        assert now() - started <= in_(60)

    run_scenario(scenario())


def test_a_worker_that_is_cancelled_while_it_waits_takes_no_key_with_it() -> None:
    async def scenario() -> None:
        work = queue()
        waiting = asyncio.create_task(work.get())
        await asyncio.sleep(1)
        waiting.cancel()
        work.add("a")
        assert await work.get() == "a"

    run_scenario(scenario())
