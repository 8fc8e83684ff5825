"""The status of an ongoing attempt: it runs, waits for room, or stops on request."""

from __future__ import annotations

from datetime import datetime

from trainwright_api.resource.status import Attempt, Room
from trainwright_operator.decide import conditions
from trainwright_operator.decide.context import Context
from trainwright_operator.model import times
from trainwright_operator.model.observed import Child
from trainwright_operator.model.plan import Plan
from trainwright_operator.model.status_builder import StatusBuilder
from trainwright_operator.policies import deadlines, lost_pods, pod_draining, start
from trainwright_operator.policies.display import phase, waiting
from trainwright_operator.policies.worker_range import range_of


def ongoing(
    context: Context, attempt: Attempt, child: Child, wake_at: datetime | None = None, room: Room | None = None
) -> Plan:
    """Write what is observed of the attempt. `room`: the room for more workers than it has."""
    builder, pods = context.builder(), context.pods_of(attempt)
    builder.set(room=room)
    began = deadlines.start_time(child, context.snapshot.pods, attempt, context.now)
    started = attempt.start_time or (times.written(began) if began else None)
    builder.change_attempt(
        start_time=started,
        stop_time=attempt.stop_time,
        position=context.position_of(attempt),
        reason=attempt.reason or lost_pods.disruption(pods) or None,
        message=attempt.message or conditions.line(lost_pods.disruption_words(pods)) or None,
    )
    write_acceptance(builder, context)
    if runs(context, attempt, child):
        _write_running(builder, context, attempt, child)
    else:
        reason, words = waiting(child, context.snapshot)
        conditions.waits(builder, reason, words)
        builder.set(message=conditions.line(words) or None)
    leaves = pod_draining.next_check(pods, 0.0)
    moments = (leaves, _next_look_for_room(context, attempt), *start_limits(context, attempt, child))
    later = (moment for moment in moments if moment is not None and moment > context.now)
    wake_at = _first(wake_at, _deadline(context, attempt, started), *later)
    return Plan(status=builder.finish(phase), wake_at=wake_at)


def write_acceptance(builder: StatusBuilder, context: Context) -> None:
    """Reject a mistake in the spec or a change of it since the start, and accept the job again when the cause of a
    rejection is gone."""
    if context.rejection:
        builder.condition("Accepted", False, *context.rejection)
    elif builder.rejected("Invalid"):
        builder.condition("Accepted", True, "Accepted", "the spec is valid again")
    elif builder.rejected("ChangedAfterStart"):
        builder.condition("Accepted", True, "Accepted", "the change after the start was undone")
    elif builder.rejected(conditions.FORBIDDEN):
        builder.condition("Accepted", True, "Accepted", "the policy of the cluster allows it now")


def _write_running(builder: StatusBuilder, context: Context, attempt: Attempt, child: Child) -> None:
    rejected = conditions.line(context.rejection[1]) if context.rejection else None
    if attempt.stop_time:
        conditions.runs(builder, "Stopping", "asked to write a checkpoint and to stop")
        builder.set(message=attempt.message)
    elif context.prepares(attempt):
        conditions.runs(builder, "Preprocessing", f"attempt {attempt.number}: {child.kind} {child.name}")
        builder.set(message=rejected or conditions.PREPROCESSING)
    else:
        conditions.runs(builder, "Running", f"attempt {attempt.number}: {child.kind} {child.name}")
        builder.set(message=rejected or context.straggler_of(attempt))
    builder.set(requeues=None)


def runs(context: Context, attempt: Attempt, child: Child) -> bool:
    """True if the child runs.

    A child with `pending_after_pods` counts as running if it has started, or if a pod of it has ended.
    """
    if child.state != "pending" or not child.pending_after_pods:
        return child.state == "running"
    pods = context.pods_of(attempt)
    return attempt.start_time is not None or any(pod.ended for pod in pods)


def start_limits(context: Context, attempt: Attempt, child: Child) -> tuple[datetime | None, datetime | None]:
    """Return the start deadline and the time to make room for others.

    Both are None for a suspended child or one that has run.
    """
    if attempt.start_time is not None or child.state == "suspended" or runs(context, attempt, child):
        return None, None
    pods, grace = context.pods_of(attempt), context.settings.gang_grace
    over = start.deadline(pods, context.limits.start_deadline)
    if child.pods == 1 or context.is_queued_by_kueue or start.is_placed(child, pods):
        return over, None
    # Other jobs may arrive: look again after each grace period.
    again = times.after(context.now, grace)
    return over, start.gives_way(child, pods, context.snapshot, grace) or again


def _next_look_for_room(context: Context, attempt: Attempt) -> datetime | None:
    """Return when a job with a range of workers may go on with fewer, because pods of it find no room."""
    validation, resize = context.job.validation, context.settings.resize
    if validation is None or validation.spec is None or range_of(context.spec) is None:
        return None
    since = start.unplaced_since(context.pods_of(attempt))
    due = None if since is None else times.after(since, resize.shrink_after)
    return due if due is None or due > context.now else times.after(context.now, resize.check)


def _deadline(context: Context, attempt: Attempt, started: str | None) -> datetime | None:
    return deadlines.active_deadline(
        context.job.status, attempt.model_copy(update={"start_time": started}), context.limits
    )


def _first(*moments: datetime | None) -> datetime | None:
    return min((moment for moment in moments if moment is not None), default=None)
