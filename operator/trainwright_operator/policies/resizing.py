"""Decides when a job with a range of workers changes their number, from numbers and times alone.

A job shrinks as soon as some of its workers have waited for room for a while. It grows after there has been room for
more workers for a whole window, not soon after another resize, and later each time that a larger size found no room.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from trainwright_api.resource.status import Attempt, Room
from trainwright_operator.model import times
from trainwright_operator.model.observed import Waiting
from trainwright_operator.policies.outcome import SHRINKS
from trainwright_operator.policies.start import UNSCHEDULABLE
from trainwright_operator.settings import Resize

MOST_DOUBLINGS = 6


@dataclass(frozen=True)
class Growth:
    """`room`: what the status keeps of it. `due`: when the job grows, if the room stays; None if there is none."""

    room: Room | None = None
    due: datetime | None = None


def growth(
    seen: Room | None, workers: int, fitting: int, not_before: datetime | None, window: float, now: datetime
) -> Growth:
    """Return the growth of a job of `workers` on nodes with room for `fitting`, with the room that the status has.

    Only the room that was there all the time counts: the number is the smallest of the window.
    """
    if fitting <= workers:
        return Growth()
    if seen is None or seen.workers <= workers:
        seen = Room(workers=fitting, since_time=times.written(now))
    room = seen.model_copy(update={"workers": min(seen.workers, fitting)})
    due = times.after(times.read(room.since_time) or now, window)
    return Growth(room, due if not_before is None else max(due, not_before))


def not_before(attempts: Sequence[Attempt], workers: int, resize: Resize) -> datetime | None:
    """Return the earliest time of a growth to more than `workers`; None if no kept attempt restricts it."""
    ordered = sorted(attempts, key=lambda one: one.number)
    changed = [after for before, after in pairwise(ordered) if _differ(before, after)]
    created = times.read(changed[-1].create_time) if changed else None
    never_ran = (one for one in ordered if found_no_room(one) and one.start_time is None)
    failed = sum((one.workers or 0) > workers for one in never_ran)
    return None if created is None else times.after(created, resize.interval * 2 ** min(failed, MOST_DOUBLINGS))


def found_no_room(attempt: Attempt) -> bool:
    """True if the attempt ended because not all of its pods could be scheduled."""
    return attempt.outcome == "stopped" and attempt.reason in (UNSCHEDULABLE, SHRINKS)


def smaller(workers: int, fitting: int, unplaced: int, least: int) -> int | None:
    """Return the number of workers that a job shrinks to; None if it does not.

    `unplaced`: the workers whose pods wait. They count if the nodes seem to have room for all, since the scheduler
    knows more than the requests.
    """
    found = fitting if fitting < workers else workers - unplaced
    return found if least <= found < workers else None


def next_size(last: Attempt | None, workers: int, fitting: int, room: Room | None, least: int) -> int:
    """Return the workers of the next attempt, after one of `workers`. `fitting`: 0 if the nodes have no room.

    A size that found no room is not tried at once again, whatever room the nodes seem to have.
    """
    most = fitting
    if last is not None and found_no_room(last):
        told = room.workers if room is not None and last.reason == SHRINKS else workers
        most = min(fitting, told, workers - 1)
    # Without room for the minimum the job waits, with the size that finds room first.
    return max(most, least)


def could_use(waiting: Iterable[Waiting], free_gpus: float, *, has_gpus: bool) -> bool:
    """True if one of the jobs that wait could use the room that a job would grow into.

    What a job without GPUs waits for is not known, so it counts against any job without GPUs.
    """
    return any(0 < one.gpus <= free_gpus if has_gpus else True for one in waiting)


def _differ(before: Attempt, after: Attempt) -> bool:
    return None not in (before.workers, after.workers) and before.workers != after.workers
