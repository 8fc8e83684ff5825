"""The situations of an attempt that was created and has not ended: it runs, waits, stops, or ended unseen."""

from __future__ import annotations

from trainwright_operator.decide.closing import close, exceed_deadline
from trainwright_operator.decide.context import ENDED, Context, deletions, is_open
from trainwright_operator.decide.ongoing import ongoing, runs, start_limits
from trainwright_operator.decide.resizing import shrunk
from trainwright_operator.model import times
from trainwright_operator.model.plan import Lookup, Plan
from trainwright_operator.policies import deadlines, pod_draining, refused_pods, start
from trainwright_operator.policies.display import with_queue
from trainwright_operator.policies.outcome import Ending, ending, reported_outcome, stopped


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
    if posted is None or (posted.outcome == "stopped" and child.state == "suspended"):
        return None
    deadline = times.after(times.read(posted.post_time) or context.now, context.settings.stop_grace)
    if context.now < deadline:
        return ongoing(context, attempt, child, wake_at=deadline)
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
    is_over = end is not None and context.now >= end
    if not is_over and not deadlines.is_spent(context.job.status, context.limits):
        return None
    return exceed_deadline(context, attempt, child)


def to_stop(context: Context) -> Plan | None:
    """The child is asked to stop, and deleted after a grace period: the user has suspended the job, or it grows.

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
        return close(context, asked, stopped(asked), child)
    return ongoing(context, asked, child, wake_at=deadlines.stop_deadline(asked, grace))


def pod_lost(context: Context) -> Plan | None:
    """A pod was lost with its node. Until its API object is gone, KubeRay does not replace it and the others wait."""
    if context.running is None:
        return None
    attempt, child = context.running
    pods = pod_draining.lost(context.pods_of(attempt), context.snapshot.nodes, context.now)
    if not pods:
        return None
    words = f"pod {pods[0].name} was lost with its node {pods[0].node}"
    smaller = shrunk(context, attempt, child, words, max_age=0.0)
    return smaller or close(context, attempt, Ending("preempted", pods[0].disrupted or "NodeLost", words), child)


def late(context: Context) -> Plan | None:
    """The attempt holds nodes and has not started in time, or it makes room for others."""
    if context.running is None:
        return None
    attempt, child = context.running
    over, gives_way = start_limits(context, attempt, child)
    if not any(moment is not None and context.now >= moment for moment in (over, gives_way)):
        return None
    if not context.snapshot.pods_fresh:
        return Plan(lookups=(Lookup("pods"),))
    pods = context.pods_of(attempt)
    seconds = context.limits.start_deadline if over is not None and context.now >= over else None
    end = start.ending(child, pods, seconds)
    return close(context, attempt, end, child, fails=start.DEADLINE if end.outcome == "environment" else "")


def running(context: Context) -> Plan | None:
    """The attempt runs, or waits for room."""
    if context.running is None:
        return None
    attempt, child = context.running
    pods, now = context.pods_of(attempt), context.now
    if runs(context, attempt, child):
        return ongoing(context, attempt, child)
    if context.snapshot.pods_refused is None and refused_pods.must_look(child, pods, now):
        return Plan(lookups=(Lookup("events", child.name),))
    return ongoing(context, attempt, child, wake_at=refused_pods.next_look(child, pods, now))
