"""The situations of a job with a range of workers: it goes on with fewer workers, or stops to go on with more."""

from __future__ import annotations

from dataclasses import replace

from trainwright_api.resource.backend import WorkerRange
from trainwright_api.resource.status import Attempt, Resolved, Room
from trainwright_operator.decide.closing import close
from trainwright_operator.decide.context import Context, is_resolved
from trainwright_operator.decide.ongoing import ongoing
from trainwright_operator.model import times
from trainwright_operator.model.observed import Child, Snapshot
from trainwright_operator.model.plan import Lookup, Plan
from trainwright_operator.policies import deadlines, resizing, start
from trainwright_operator.policies.outcome import GROWS, SHRINKS, Ending
from trainwright_operator.policies.worker_range import bounds, share_of, workers_with_room


def without_room(context: Context) -> Plan | None:
    """Some of its pods have waited for room for a while, and there is room for fewer workers."""
    if context.running is None:
        return None
    attempt, child = context.running
    since = start.unplaced_since(context.pods_of(attempt))
    if since is None or context.now < times.after(since, context.settings.resize.shrink_after):
        return None
    return shrunk(context, attempt, child, "some of its pods find no room", max_age=context.settings.resize.check)


def shrunk(context: Context, attempt: Attempt, child: Child, why: str, *, max_age: float) -> Plan | None:
    """Close the attempt, for the next one to have fewer workers. None if they would find no room either.

    `max_age`: how old the data about the nodes may be, in seconds.
    """
    found = _resizable(context, attempt)
    if found is None:
        return None
    if context.snapshot.in_use is None:
        return Plan(lookups=(Lookup("in_use", max_age=max_age),))
    resolved, within = found
    workers = resolved.workers or 1
    unplaced = len(start.unplaced(context.pods_of(attempt))) * (resolved.workers_per_pod or 1)
    fewer = resizing.smaller(workers, _fitting(context, resolved, within, context.snapshot), unplaced, within.min)
    if fewer is None:
        return None
    words = f"{why}; the nodes have room for {fewer:,} of {workers:,} workers"
    room = Room(workers=fewer, since_time=times.written(context.now))
    return close(context, attempt, Ending("stopped", SHRINKS, words), child, room=room)


def growing(context: Context) -> Plan | None:
    """The job runs with fewer workers than it may have: look for room, and stop with a checkpoint to use it."""
    if context.running is None:
        return None
    attempt, child = context.running
    found = _resizable(context, attempt)
    if found is None or attempt.start_time is None or attempt.reason or start.unplaced_since(context.pods_of(attempt)):
        return None
    resolved, within = found
    workers, resize = resolved.workers or 1, context.settings.resize
    idle = replace(context.snapshot, in_use={})
    if _fitting(context, resolved, within, idle) <= workers:
        return None  # not even idle nodes have room for more
    if context.snapshot.in_use is None:
        return Plan(lookups=(Lookup("in_use", max_age=resize.check),))
    not_before = resizing.not_before(context.job.status.attempts or (), workers, resize)
    fitting = 0 if _others_first(context, resolved) else _fitting(context, resolved, within, context.snapshot)
    growth = resizing.growth(context.job.status.room, workers, fitting, not_before, resize.window, context.now)
    if growth.due is None or context.now < growth.due:
        again = times.after(context.now, resize.check)
        return ongoing(context, attempt, child, min(again, growth.due or again), growth.room)
    words = f"there is room for {fitting:,} workers instead of {workers:,}"
    asked = attempt.model_copy(update={"stop_time": times.written(context.now), "reason": GROWS, "message": words})
    return ongoing(context, asked, child, deadlines.stop_deadline(asked, context.settings.stop_grace), growth.room)


def _resizable(context: Context, attempt: Attempt) -> tuple[Resolved, WorkerRange] | None:
    """Return the resolved values and the range of a job whose next attempt may have another number of workers."""
    resolved, validation = context.job.status.resolved, context.job.validation
    if not is_resolved(resolved) or context.prepares(attempt) or validation is None or validation.spec is None:
        return None
    share = share_of(context.spec, resolved)
    within = bounds(context.spec, share, context.snapshot.others, context.settings.policy)
    if within is None or not context.may_resize:
        return None
    # Without an attempt that follows, this one must not end.
    return None if context.changed or context.forbidden(resolved) else (resolved, within)


def _fitting(context: Context, resolved: Resolved, within: WorkerRange, snapshot: Snapshot) -> int:
    share, given = share_of(context.spec, resolved), context.spec.workers_per_pod
    together = given if isinstance(given, int) else resolved.workers_per_pod or 1
    return workers_with_room(context.spec, within, share, together, snapshot, context.settings)


def _others_first(context: Context, resolved: Resolved) -> bool:
    """True if another job waits that could use the room."""
    snapshot, resource = context.snapshot, context.spec.gpu_resource_name
    used = sum(amounts.get(resource, 0.0) for amounts in (snapshot.in_use or {}).values())
    there = sum(node.allocatable.get(resource, 0.0) for node in snapshot.nodes or () if node.ready)
    free = there - used - (resolved.gpus or 0)
    waiting = resizing.could_use(snapshot.others_waiting, free, has_gpus=bool(resolved.gpus))
    return waiting or snapshot.others_crowded
