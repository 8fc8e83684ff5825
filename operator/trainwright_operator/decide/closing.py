"""The status that is written when an attempt, or its preprocess stage, ends: its record, the counts, the job's end."""

from __future__ import annotations

from datetime import datetime

from trainwright_api.resource.stages import TRAINING
from trainwright_api.resource.status import Attempt, PostedOutcome, Preprocessed, Room
from trainwright_operator.decide import conditions
from trainwright_operator.decide.context import Context, is_unsure
from trainwright_operator.model import times
from trainwright_operator.model.observed import Child
from trainwright_operator.model.plan import Lookup, Plan
from trainwright_operator.model.status_builder import StatusBuilder
from trainwright_operator.policies import deadlines, retry, start
from trainwright_operator.policies.display import being_started, phase
from trainwright_operator.policies.outcome import Ending, reported_outcome


def close(
    context: Context, attempt: Attempt, end: Ending, child: Child | None, *, fails: str = "", room: Room | None = None
) -> Plan:
    """Close the attempt with this ending. `fails`: the reason for which the job fails with it, whatever its limits are.
    `room`: the room for the next attempt, if it is to have fewer workers.

    If the child was not seen as ended, it may have ended since, so the plan reads it first.
    """
    if child is not None and is_unsure(context, child):
        return Plan(lookups=(Lookup("child", child.name, child.kind),))
    if end.outcome == "infrastructure" and not context.snapshot.pods_fresh:
        # A pod may hold more details, while its event has not arrived yet.
        return Plan(lookups=(Lookup("pods"),))
    builder = context.builder()
    builder.set(room=room)
    if end.outcome == "done" and context.prepares(attempt):
        _next_stage(context, builder, attempt, end, child)
        return Plan(status=builder.finish(phase))
    record(context, builder, attempt, end, child)
    if end.outcome == "done":
        _complete(context, builder, attempt)
    elif refusal := fails or _refusal(context, builder, end):
        _fail(builder, refusal, end, attempt.number)
    else:
        _goes_on(builder, end, attempt.number)
    return Plan(status=builder.finish(phase))


def exceed_deadline(context: Context, attempt: Attempt, child: Child | None) -> Plan:
    """Fail the job, and close its attempt if that has not ended: together they have run for too long."""
    words = f"it has run for longer than activeDeadlineSeconds ({context.limits.active_deadline:,} s)"
    end = Ending("stopped", "DeadlineExceeded", words)
    if context.ended is None:
        return close(context, attempt, end, child, fails=end.reason)
    builder = context.builder()
    _fail(builder, end.reason, end, attempt.number)
    return Plan(status=builder.finish(phase))


def record(context: Context, builder: StatusBuilder, attempt: Attempt, end: Ending, child: Child | None) -> None:
    """Write the end of the attempt and add it to the counts."""
    ended = _end_time(context.now, child)
    attempt = _begun(context, attempt, child, ended)
    builder.change_attempt(
        start_time=attempt.start_time,
        completion_time=times.written(ended),
        stop_time=attempt.stop_time,
        outcome=end.outcome,
        reason=end.reason[:256],
        message=conditions.line(end.message) or None,
        position=context.position_of(attempt),
        next_attempt=end.next_attempt,
    )
    active = deadlines.active_seconds(attempt, ended)
    _add(builder, "active_seconds", round(active))
    _add_gpus(context, builder, attempt, active)
    if end.outcome in retry.COUNTED:
        _add(builder, "retries", 1)
    if end.outcome == "preempted":
        _add(builder, "preemptions", 1)
    if end.reason == start.UNSCHEDULABLE:
        _add(builder, "requeues", 1)
    elif attempt.start_time or end.outcome == "done":
        builder.set(requeues=None)  # the attempt may have ended before a pass saw it running
    if end.outcome not in ("done", "stopped"):
        builder.set(log_tail=end.log_tail or None)


def _next_stage(context: Context, builder: StatusBuilder, attempt: Attempt, end: Ending, child: Child | None) -> None:
    """Record that the preprocess stage is done, and move the attempt to the child of its task.

    The data stays valid for all later attempts. The new child is created once the pods of this one are gone. The time
    until it has room does not count as active time.
    """
    ended = _end_time(context.now, child)
    attempt = _begun(context, attempt, child, ended)
    builder.set(
        preprocessed=Preprocessed(
            attempt=attempt.number,
            child=attempt.child,
            start_time=attempt.start_time,
            completion_time=times.written(ended),
            message=conditions.line(end.message) or None,
        )
    )
    _add(builder, "active_seconds", round(deadlines.active_seconds(attempt, ended)))
    name = context.child_name(attempt.number, context.task)
    builder.change_attempt(
        child=name, stage=context.task, create_time=None, start_time=None, stop_time=None, reason=None, message=None
    )
    words = being_started(context.kind.name, name)
    conditions.waits(builder, "Starting", words)
    builder.set(child=name, message=words)


def _begun(context: Context, attempt: Attempt, child: Child | None, ended: datetime) -> Attempt:
    """Return the attempt with the time at which its pods started, which no pass may have written yet."""
    began = deadlines.start_time(child, context.snapshot.pods, attempt, ended)
    return attempt.model_copy(update={"start_time": attempt.start_time or (times.written(began) if began else None)})


def _add_gpus(context: Context, builder: StatusBuilder, attempt: Attempt, active: float) -> None:
    """Add the GPU-seconds of a stage that has GPUs."""
    resolved = builder.get("resolved")
    if resolved is not None and not context.prepares(attempt) and (count := context.gpus_held(resolved)):
        _add(builder, "gpu_seconds", round(count * active))


def _add(builder: StatusBuilder, count: str, more: int) -> None:
    builder.set(**{count: (builder.get(count) or 0) + more})


def _refusal(context: Context, builder: StatusBuilder, end: Ending) -> str:
    return retry.refusal(end.outcome, builder.get("retries") or 0, builder.get("preemptions") or 0, context.limits)


def _complete(context: Context, builder: StatusBuilder, attempt: Attempt) -> None:
    posted = reported_outcome(context.job, attempt, context.snapshot.pods)
    model = (posted.model if posted else None) or _default_model(context, builder.get("output"))
    words = _scores(posted)
    if model:
        words = f"{words}; model {model}" if words else f"model {model}"
    elif context.has_function and posted is not None:
        words = posted.message or ""
    builder.set(
        completion_time=times.written(context.now),
        model=model,
        test_scores=posted.test_scores if posted else None,
        message=conditions.line(words) or None,
        log_tail=None,
    )
    builder.condition("Running", False, "Complete", "")
    builder.condition("Complete", True, "Done", words or "done")
    conditions.settles(builder, "Done")


def _fail(builder: StatusBuilder, reason: str, end: Ending, attempt: int) -> None:
    cause = conditions.line(end.message) or end.reason
    # A mistake is for the user to fix, and its message is complete; other messages need the attempt's number.
    words = cause if reason == "Mistake" else f"attempt {attempt}: {cause}"
    builder.set(completion_time=times.written(builder.now), message=conditions.line(words))
    builder.condition("Running", False, "Failed", "")
    builder.condition("Failed", True, reason, words)
    conditions.stalls(builder, reason, words)


def _goes_on(builder: StatusBuilder, end: Ending, attempt: int) -> None:
    words = conditions.line(f"attempt {attempt} ended: {end.message or end.reason}")
    builder.set(message=words)
    conditions.waits(builder, "Queued" if end.reason == start.UNSCHEDULABLE else end.reason, words)


def _end_time(now: datetime, child: Child | None) -> datetime:
    return min(child.finished, now) if child is not None and child.finished is not None else now


def _default_model(context: Context, output: str | None) -> str | None:
    trains = context.task in TRAINING and not context.has_function
    return f"{output}/model" if output and trains else None


def _scores(posted: PostedOutcome | None) -> str:
    scores = (posted.test_scores if posted else None) or {}
    shown = ", ".join(f"{name} {value:.4g}" for name, value in sorted(scores.items())[:6])
    return f"test {shown}" if shown else ""
