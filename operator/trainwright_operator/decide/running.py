"""The situations of an attempt that was created and has not ended: it runs, waits, stops, or ended unseen."""

from __future__ import annotations

from datetime import datetime

from trainwright_api.resource.status import Attempt
from trainwright_operator.decide import conditions
from trainwright_operator.decide.closing import close
from trainwright_operator.decide.context import ENDED, Context, deletions, is_open
from trainwright_operator.model import times
from trainwright_operator.model.observed import Child
from trainwright_operator.model.plan import Lookup, Plan
from trainwright_operator.policies import deadlines, pod_draining, refused_pods, start
from trainwright_operator.policies.display import phase, waiting, with_queue
from trainwright_operator.policies.outcome import Ending, disrupted, ending, reported_outcome


def orphans(context: Context) -> Plan | None:
    """Delete children of other attempts: an operator that had lost its Lease may have created them late."""
    attempt = context.attempt
    kept = None if attempt is None else attempt.child
    found = deletions(tuple(child for child in context.snapshot.children if child.name != kept))
    return Plan(delete=found) if found else None


def child_unseen(context: Context) -> Plan | None:
    """The child is missing: it is gone, or not in the cache yet. Only a GET can tell which."""
    attempt = context.attempt
    if attempt is None or not is_open(attempt) or context.child is not None:
        return None
    if attempt.child not in context.snapshot.gone:
        return Plan(lookups=(Lookup("child", attempt.child or "", context.kind_of(attempt)),))
    return close(context, attempt, ending(context.job, attempt, None, context.snapshot.pods), None)


def ended(context: Context) -> Plan | None:
    """The child has ended, or its process has posted its outcome and does not exit."""
    if context.running is None:
        return None
    attempt, child = context.running
    posted = reported_outcome(context.job, attempt)
    if child.state in ENDED:
        return close(context, attempt, ending(context.job, attempt, child, context.snapshot.pods), child)
    if posted is None:
        return None
    deadline = times.after(times.read(posted.post_time) or context.now, context.settings.stop_grace)
    if context.now < deadline:
        return _as_it_goes(context, attempt, child, wake_at=deadline)
    return close(context, attempt, ending(context.job, attempt, child, context.snapshot.pods), child)


def requeued(context: Context) -> Plan | None:
    """Kueue has suspended a child that had started. It would start again under the old attempt number."""
    if context.running is None:
        return None
    attempt, child = context.running
    if child.state != "suspended" or attempt.start_time is None:
        return None
    words = with_queue(f"{child.name} was sent back to its queue", child, context.snapshot)
    return close(context, attempt, Ending("preempted", "Requeued", words), child)


def out_of_time(context: Context) -> Plan | None:
    """The deadline has passed. It counts the running time of all attempts."""
    if context.running is None:
        return None
    attempt, child = context.running
    end = deadlines.active_deadline(context.job.status, attempt, context.limits)
    if end is None or context.now < end:
        return None
    words = f"it has run for longer than activeDeadlineSeconds ({context.limits.active_deadline:,} s)"
    return close(context, attempt, Ending("stopped", "DeadlineExceeded", words), child, fails="DeadlineExceeded")


def to_stop(context: Context) -> Plan | None:
    """The user has suspended the job. The child is asked to stop, and deleted after a grace period.

    An attempt that was asked to stop stops, even if the job is resumed.
    """
    if context.running is None:
        return None
    attempt, child = context.running
    if not (context.job.suspend or attempt.stop_time):
        return None
    asked = attempt.model_copy(update={"stop_time": attempt.stop_time or times.written(context.now)})
    grace = context.settings.stop_grace
    if deadlines.has_stopped(asked, child, context.snapshot.pods, context.now, grace):
        return close(context, asked, Ending("stopped", "Suspended", "stopped because the job was suspended"), child)
    return _as_it_goes(context, asked, child, wake_at=deadlines.stop_deadline(asked, grace))


def pod_lost(context: Context) -> Plan | None:
    """A pod was lost with its node. Until its API object is gone, KubeRay does not replace it and the others wait."""
    if context.running is None:
        return None
    attempt, child = context.running
    pods = pod_draining.lost(context.pods_of(attempt), context.snapshot.nodes, context.now)
    if not pods:
        return None
    words = f"pod {pods[0].name} was lost with its node {pods[0].node}"
    return close(context, attempt, Ending("preempted", pods[0].disrupted or "NodeLost", words), child)


def late(context: Context) -> Plan | None:
    """The attempt holds nodes and has not started in time, or it makes room for others."""
    if context.running is None:
        return None
    attempt, child = context.running
    over, gives_way = _start_limits(context, attempt, child)
    if not any(moment is not None and context.now >= moment for moment in (over, gives_way)):
        return None
    if not context.snapshot.pods_fresh:
        return Plan(lookups=(Lookup("pods"),))
    resolved, pods = context.job.status.resolved, context.pods_of(attempt)
    seconds = context.limits.start_deadline if over is not None and context.now >= over else None
    end = start.ending(child, pods, resolved.image if resolved else None, seconds)
    return close(context, attempt, end, child, fails=start.DEADLINE if end.outcome == "environment" else "")


def running(context: Context) -> Plan | None:
    """The attempt runs, or waits for room."""
    if context.running is None:
        return None
    attempt, child = context.running
    pods, now = context.pods_of(attempt), context.now
    if _runs(context, attempt, child):
        return _as_it_goes(context, attempt, child)
    if context.snapshot.pods_refused is None and refused_pods.must_look(child, pods, now):
        return Plan(lookups=(Lookup("events", child.name),))
    return _as_it_goes(context, attempt, child, wake_at=refused_pods.next_look(child, pods, now))


def _as_it_goes(context: Context, attempt: Attempt, child: Child, wake_at: datetime | None = None) -> Plan:
    builder = context.builder()
    began = deadlines.start_time(child, context.snapshot.pods, attempt, context.now)
    started = attempt.start_time or (times.written(began) if began else None)
    reason = attempt.reason or disrupted(context.pods_of(attempt)) or None
    builder.change_attempt(
        start_time=started, stop_time=attempt.stop_time, position=context.position_of(attempt), reason=reason
    )
    if context.changed:
        builder.condition("Accepted", False, "ChangedAfterStart", conditions.CHANGED)
    elif builder.rejected("ChangedAfterStart"):
        builder.condition("Accepted", True, "Accepted", "the change after the start was undone")
    elif builder.rejected(conditions.FORBIDDEN):
        builder.condition("Accepted", True, "Accepted", "the policy of the cluster allows it now")
    runs = _runs(context, attempt, child)
    if attempt.stop_time and runs:
        conditions.runs(builder, "Stopping", "asked to write a checkpoint and to stop")
        builder.set(message=None)
    elif runs and context.prepares(attempt):
        conditions.runs(builder, "Preprocessing", f"attempt {attempt.number}: {child.kind} {child.name}")
        builder.set(message=conditions.CHANGED if context.changed else conditions.PREPROCESSING)
    elif runs:
        conditions.runs(builder, "Running", f"attempt {attempt.number}: {child.kind} {child.name}")
        builder.set(message=conditions.CHANGED if context.changed else context.straggler_of(attempt))
    if runs:
        builder.set(requeues=None)
    else:
        reason, words = waiting(child, context.snapshot)
        conditions.waits(builder, reason, words)
        builder.set(message=conditions.line(words) or None)
    leaves = pod_draining.next_check(context.pods_of(attempt), 0.0)
    moments = (leaves, *_start_limits(context, attempt, child))
    later = (moment for moment in moments if moment is not None and moment > context.now)
    wake_at = _first(wake_at, _deadline(context, attempt, started), *later)
    return Plan(status=builder.finish(phase), wake_at=wake_at)


def _runs(context: Context, attempt: Attempt, child: Child) -> bool:
    """True if the child runs.

    A child with `pending_after_pods` counts as running if it has started, or if a pod of it has ended.
    """
    if child.state != "pending" or not child.pending_after_pods:
        return child.state == "running"
    pods = context.pods_of(attempt)
    return attempt.start_time is not None or any(pod.ended for pod in pods)


def _start_limits(context: Context, attempt: Attempt, child: Child) -> tuple[datetime | None, datetime | None]:
    """Return the start deadline and the time to make room for others.

    Both are None for a suspended child or one that has run.
    """
    if attempt.start_time is not None or child.state == "suspended" or _runs(context, attempt, child):
        return None, None
    pods, grace = context.pods_of(attempt), context.settings.gang_grace
    over = start.deadline(pods, context.limits.start_deadline)
    if child.pods == 1 or context.is_queued_by_kueue or start.is_placed(child, pods):
        return over, None
    # Other jobs may arrive: look again after each grace period.
    again = times.after(context.now, grace)
    return over, start.gives_way(child, pods, context.snapshot, grace) or again


def _deadline(context: Context, attempt: Attempt, started: str | None) -> datetime | None:
    return deadlines.active_deadline(
        context.job.status, attempt.model_copy(update={"start_time": started}), context.limits
    )


def _first(*moments: datetime | None) -> datetime | None:
    return min((moment for moment in moments if moment is not None), default=None)
