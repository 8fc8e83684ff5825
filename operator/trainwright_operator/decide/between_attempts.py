"""The situations between two attempts, and before the first: everything that must be over before the next attempt."""

from __future__ import annotations

from datetime import datetime, timedelta

from trainwright_api.resource.status import Attempt
from trainwright_operator.decide import conditions
from trainwright_operator.decide.closing import exceed_deadline, record
from trainwright_operator.decide.context import Context, deletions, is_open
from trainwright_operator.model import times
from trainwright_operator.model.plan import Plan
from trainwright_operator.policies import deadlines, pod_draining, retry, start
from trainwright_operator.policies.display import phase
from trainwright_operator.policies.outcome import Ending

_GO_ON = "set spec.suspend to false to go on"
MISSING_KIND_SECONDS = 60.0
"""The interval at which a job checks if the kind of its child is installed."""


def time_spent(context: Context) -> Plan | None:
    """The deadline was lowered to less than the running time of the attempts so far: none follows."""
    attempt = context.attempt
    if attempt is None or not deadlines.is_spent(context.job.status, context.limits):
        return None
    return exceed_deadline(context, attempt, None)


def clearing_away(context: Context) -> Plan | None:
    """The attempt has ended, and another one may follow: delete its child."""
    child = context.child
    if context.ended is None or child is None:
        return None
    return Plan(delete=deletions((child,)))


def pods_linger(context: Context) -> Plan | None:
    """Wait while pods of the previous attempt or stage run: they use the same run folder."""
    attempt, grace = context.attempt, context.settings.overlap_grace
    if attempt is None or is_open(attempt) or context.child is not None:
        return None
    blocking = pod_draining.blocking(context.snapshot, context.now, grace)
    if not blocking:
        return None
    builder = context.builder()
    over = (
        f"attempt {attempt.number} ended ({attempt.reason})"
        if attempt.completion_time
        else "what came before has ended"
    )
    words = f"{over}; its pod {blocking[0].name} is not gone yet"
    conditions.waits(builder, "Queued" if start.released_its_nodes(attempt) else "WaitingForPods", words)
    builder.set(message=conditions.line(words))
    again = pod_draining.next_check(blocking, grace)
    wake_at = again if again is not None and again > context.now else None
    if context.snapshot.pods_fresh:
        # The pods come from a list, so the informer may not report their deletion: look again soon.
        soon = times.after(context.now, context.settings.retry_limit)
        wake_at = min(wake_at or soon, soon)
    return Plan(status=builder.finish(phase), wake_at=wake_at)


def refused(context: Context) -> Plan | None:
    """The spec is invalid, has changed since the start, or the policy forbids it: nothing new is started."""
    if context.rejection:
        return refuse(context, *context.rejection)
    words = context.forbidden(context.job.status.resolved)
    return refuse(context, conditions.FORBIDDEN, words) if words else None


def refuse(context: Context, reason: str, words: str) -> Plan:
    """Start nothing, and report why."""
    builder = context.builder()
    builder.condition("Accepted", False, reason, words)
    if builder.attempt is not None:
        builder.condition("Running", False, reason, words)
        if context.job.suspend:
            builder.condition("Suspended", True, "Suspended", _GO_ON)
    conditions.stalls(builder, reason, words)
    builder.set(message=conditions.line(words))
    return Plan(status=builder.finish(phase))


def suspended(context: Context) -> Plan | None:
    """The job is suspended and no child exists: nothing is started."""
    if not context.job.suspend:
        return None
    builder, attempt = context.builder(), context.attempt
    if attempt is not None and context.ended is None:
        record(context, builder, attempt, Ending("stopped", "Suspended", "suspended before it was created"), None)
    if attempt is not None:
        builder.condition("Running", False, "Suspended", "")
    conditions.accepts(builder)
    builder.condition("Suspended", True, "Suspended", _GO_ON)
    conditions.settles(builder, "Suspended")
    builder.set(message=_GO_ON)
    return Plan(status=builder.finish(phase))


def kind_missing(context: Context) -> Plan | None:
    """The cluster lacks the software for the job's child. It may be installed at any time."""
    needs = context.kind.missing(context.snapshot.missing_kinds)
    if needs is None:
        return None
    builder = context.builder()
    conditions.accepts(builder)
    conditions.stalls(builder, needs.reason, needs.message)
    builder.set(message=needs.message)
    return Plan(status=builder.finish(phase), wake_at=context.now + timedelta(seconds=MISSING_KIND_SECONDS))


def backing_off(context: Context) -> Plan | None:
    """A pause follows a failure that counts, or an attempt that released its nodes."""
    attempt = context.ended
    due = (
        retry.due(context.job.status, attempt, context.job.uid, context.settings.backoff)
        if attempt is not None
        else None
    )
    if attempt is None or due is None:
        return None
    if start.released_its_nodes(attempt):
        return _queued(context, attempt, due)
    if context.now >= due:
        return None
    builder = context.builder()
    number, retries = attempt.number, context.job.status.retries or 1
    next_one = f"attempt {number + 1}, retry {retries:,} of {context.limits.backoff:,}, follows at {times.written(due)}"
    conditions.waits(builder, "BackOff", f"attempt {number} ended ({attempt.reason}); {next_one}")
    builder.set(message=conditions.line(f"attempt {number} ended: {attempt.message or attempt.reason}; {next_one}"))
    return Plan(status=builder.finish(phase), wake_at=due)


def _queued(context: Context, attempt: Attempt, due: datetime) -> Plan | None:
    """After the pause, wait for a gang that is being scheduled, and check as often as after a first failure."""
    again = due
    if context.now >= due:
        if not start.others_try(context.job.uid, context.snapshot.waiting):
            return None
        again = times.after(
            context.now, retry.pause(1, f"{context.job.uid}/{attempt.number}", context.settings.backoff)
        )
    builder = context.builder()
    words = f"attempt {attempt.number} found no room for all of its pods; attempt {attempt.number + 1} tries again"
    conditions.waits(builder, "Queued", words)
    builder.set(message=words)
    return Plan(status=builder.finish(phase), wake_at=again)
