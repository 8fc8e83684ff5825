"""The numbers and times of resizes, without a cluster."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_api.resource.status import Attempt, OutcomeClass, Room
from trainwright_operator.model import times
from trainwright_operator.model.observed import Waiting
from trainwright_operator.policies.outcome import GROWS, SHRINKS
from trainwright_operator.policies.resizing import Growth, could_use, growth, next_size, not_before, smaller
from trainwright_operator.policies.start import UNSCHEDULABLE
from trainwright_operator.settings import Resize

from ..simulation import START

WINDOW = 300.0
RESIZE = Resize(window=WINDOW, interval=900.0)


def at(seconds: float) -> str:
    return times.written(START + timedelta(seconds=seconds))


def room(workers: int, seconds: float = 0) -> Room:
    return Room(workers=workers, since_time=at(seconds))


def attempt(number: int, workers: int | None, reason: str = "", *, ran: bool = True) -> Attempt:
    outcome: OutcomeClass | None = "stopped" if reason else None
    created, started = at(1000 * number), at(1000 * number) if ran else None
    return Attempt(
        number=number, workers=workers, reason=reason or None, outcome=outcome, create_time=created, start_time=started
    )


@pytest.mark.parametrize(
    ("seen", "fitting", "found", "due"),
    [
        (None, 4, None, None),
        (None, 6, room(6, 100), 400),
        (room(6), 6, room(6), 300),
        (room(6), 5, room(5), 300),
        (room(6), 8, room(6), 300),
        (room(6), 4, None, None),
        (room(3), 6, room(6, 100), 400),
    ],
    ids=["no room", "new room", "the same", "less", "more counts later", "gone", "of an earlier size"],
)
def test_the_room_that_was_there_all_the_time_counts(
    seen: Room | None, fitting: int, found: Room | None, due: float | None
) -> None:
    expected = Growth(found, None if due is None else START + timedelta(seconds=due))
    assert growth(seen, 4, fitting, None, WINDOW, START + timedelta(seconds=100)) == expected


def test_a_growth_waits_for_the_end_of_the_interval() -> None:
    later = START + timedelta(seconds=1000)
    assert growth(room(6), 4, 6, later, WINDOW, START).due == later


@pytest.mark.parametrize(
    ("attempts", "workers", "seconds"),
    [
        ([attempt(1, 2)], 2, None),
        ([attempt(1, 2, "Crash"), attempt(2, 2)], 2, None),
        ([attempt(1, None), attempt(2, 2)], 2, None),
        ([attempt(1, 2, GROWS), attempt(2, 4)], 4, 2900),
        ([attempt(2, 4), attempt(1, 2, GROWS)], 4, 2900),
        ([attempt(1, 4, SHRINKS), attempt(2, 2)], 2, 2900),
        ([attempt(1, 4, SHRINKS, ran=False), attempt(2, 2)], 2, 3800),
        ([attempt(1, 4, UNSCHEDULABLE, ran=False), attempt(2, 3, SHRINKS, ran=False), attempt(3, 2)], 2, 6600),
        ([attempt(1, 4, UNSCHEDULABLE, ran=False), attempt(2, 4)], 4, None),
    ],
    ids=[
        *("the first", "no resize", "unknown", "after a growth", "in any order", "after a loss"),
        *("after a try", "after two tries", "the same size"),
    ],
)
def test_the_interval_follows_the_last_resize_and_doubles_with_each_try(
    attempts: list[Attempt], workers: int, seconds: float | None
) -> None:
    expected = None if seconds is None else START + timedelta(seconds=seconds)
    assert not_before(attempts, workers, RESIZE) == expected


@pytest.mark.parametrize(
    ("fitting", "unplaced", "least", "found"),
    [(2, 2, 1, 2), (3, 2, 1, 3), (4, 1, 1, 3), (9, 2, 1, 2), (4, 0, 1, None), (4, 3, 2, None), (0, 4, 1, None)],
)
def test_a_job_shrinks_to_what_fits_and_trusts_the_scheduler_more(
    fitting: int, unplaced: int, least: int, found: int | None
) -> None:
    assert smaller(4, fitting, unplaced, least) == found


@pytest.mark.parametrize(
    ("last", "fitting", "seen", "found"),
    [
        (None, 6, None, 6),
        (attempt(1, 4, "Crash"), 6, None, 6),
        (attempt(1, 4, GROWS), 6, None, 6),
        (attempt(1, 4, SHRINKS), 6, room(3), 3),
        (attempt(1, 4, SHRINKS), 2, room(3), 2),
        (attempt(1, 4, UNSCHEDULABLE, ran=False), 6, None, 3),
        (attempt(1, 4, "Crash"), 0, None, 1),
    ],
)
def test_the_next_attempt_takes_what_fits_but_no_size_that_has_just_failed(
    last: Attempt | None, fitting: int, seen: Room | None, found: int
) -> None:
    assert next_size(last, 4, fitting, seen, 1) == found


@given(
    *(st.integers(0, 50), st.integers(1, 50), st.integers(0, 50), st.integers(1, 50), st.integers(1, 20)),
    st.sampled_from(["", "Crash", GROWS, SHRINKS, UNSCHEDULABLE]),
)
def test_no_size_is_below_the_minimum_or_above_the_room(
    fitting: int, workers: int, unplaced: int, told: int, least: int, reason: str
) -> None:
    found = next_size(attempt(1, workers, reason), workers, fitting, room(told), least)
    assert found == least or least < found <= fitting
    fewer = smaller(workers, fitting, unplaced, least)
    assert fewer is None or least <= fewer < workers


@given(st.lists(st.integers(0, 12), min_size=1, max_size=40), st.integers(1, 8))
def test_a_job_grows_only_into_room_of_a_whole_window(rooms: list[int], workers: int) -> None:
    """One look a minute. At a growth, each look of the window has seen at least the room of the growth."""
    seen: Room | None = None
    for minute, fitting in enumerate(rooms):
        now = START + timedelta(minutes=minute)
        found = growth(seen, workers, fitting, None, WINDOW, now)
        seen = found.room
        if found.room is not None and found.due is not None and found.due <= now:
            assert minute >= 5
            assert all(workers < found.room.workers <= one for one in rooms[minute - 5 : minute + 1])


def test_only_a_job_that_could_use_the_room_goes_first() -> None:
    def waits(gpus: int) -> list[Waiting]:
        return [Waiting("2026-11-21T11:00:00Z", "another", gang=True, trying=True, gpus=gpus)]

    assert could_use(waits(2), 2, has_gpus=True)
    assert not could_use(waits(3), 2, has_gpus=True)
    assert not could_use(waits(0), 2, has_gpus=True)
    assert could_use(waits(0), 0, has_gpus=False)
    assert not could_use([], 9, has_gpus=False)
