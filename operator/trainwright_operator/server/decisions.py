"""Decide on a pod's report: the reply to the pod, and the part of the status that is written. Pure functions.

Every apply contains all fields that this field owner has written, because server-side apply removes missing fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from trainwright_api.resource import display
from trainwright_api.resource.messages import ProgressMessage, Reply, Report
from trainwright_api.resource.stages import differ
from trainwright_operator.model import times
from trainwright_operator.model.reading import mapping
from trainwright_operator.policies.outcome import as_status

_SHARED = (
    "stage",
    "fraction",
    "epoch",
    "epochs",
    "rowsPerSecond",
    "metrics",
    "lastCheckpoint",
    "ranks",
    "straggler",
    "startPosition",
    "trials",
)
"""Fields that have the same name in a message and in the status."""

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Decision:
    """The reply, and the `status` to apply. None: nothing is applied."""

    reply: Reply
    status: Json | None = None


def decide(job: Json, report: Report, now: datetime, interval: float) -> Decision:
    """Decide on a report of a pod. `job` is the TrainingJob as just read from the API server."""
    status = mapping(job, "status")
    reply = reply_to(job, report)
    if status.get("attempt") != report.attempt or _closed(status, report.attempt) or _is_past(status, report):
        return Decision(reply)
    outcome = _outcome(status, report, now)
    if outcome == status.get("outcome") and not _is_due(mapping(status, "progress"), report, now, interval):
        return Decision(reply)
    progress = _progress(report, now) if report.progress else status.get("progress")
    written = {"progress": progress, "outcome": outcome, "resolved": _resolved(status, report)}
    return Decision(reply, {key: value for key, value in written.items() if value})


def of_stage(report: Report, stage: str) -> Report:
    """Return the report with the stage of the pod's label. The operator has set the label; it overrides the report."""
    parts = {"progress": report.progress, "outcome": report.outcome}
    return report.model_copy(
        update={name: part.model_copy(update={"stage": stage}) for name, part in parts.items() if part and stage}
    )


def reply_to(job: Json, report: Report) -> Reply:
    """Return the reply: with `stop` the pod writes a checkpoint and exits."""
    reason = next(_reasons_to_stop(job, report), "")
    return Reply(stop=bool(reason), reason=reason)


def _reasons_to_stop(job: Json, report: Report) -> Iterator[str]:
    status, attempt = mapping(job, "status"), report.attempt
    newest = status.get("attempt") or 0
    if mapping(job, "metadata").get("deletionTimestamp"):
        yield "the job is being deleted"
    if attempt < newest:
        yield f"attempt {attempt} has been superseded by attempt {newest}"
    if status.get("completionTime"):
        yield "the job has ended"
    if _closed(status, attempt):
        yield f"attempt {attempt} has been closed"
    if _is_past(status, report):
        yield f"stage {_stage(report)} of attempt {attempt} is over"
    if mapping(job, "spec").get("suspend"):
        yield "the job is suspended"
    if _entry(status, attempt).get("stopTime"):
        yield f"attempt {attempt} was asked to stop"


def _closed(status: Json, attempt: int) -> bool:
    return bool(_entry(status, attempt).get("completionTime") or status.get("completionTime"))


def _entry(status: Json, attempt: int) -> Json:
    return next((entry for entry in status.get("attempts") or () if entry.get("number") == attempt), {})


def _stage(report: Report) -> str | None:
    part = report.outcome or report.progress
    return None if part is None else part.stage


def _is_past(status: Json, report: Report) -> bool:
    """True if the attempt is now in another stage."""
    now, reported = _entry(status, report.attempt).get("stage"), _stage(report)
    return bool(now and reported) and differ(now, reported)


def _is_due(last: Json, report: Report, now: datetime, interval: float) -> bool:
    if report.progress is None:
        return False
    written = times.read(last.get("updateTime"))
    if written is None or (last.get("attempt"), last.get("stage")) != (report.attempt, report.progress.stage):
        return True
    # A time in the future comes from another clock: it must not delay progress for long.
    return not now - timedelta(seconds=interval) < written <= now + timedelta(seconds=interval)


def _progress(report: Report, now: datetime) -> Json:
    message = report.progress or ProgressMessage()
    reported = message.model_dump(mode="json", exclude_none=True)
    words = {
        "summary": display.summary(message),
        "metric": display.metric(message),
        "eta": display.time_left(message),
    }
    return {
        "attempt": report.attempt,
        "updateTime": times.written(now),
        **{key: reported[key] for key in _SHARED if key in reported},
        **{key: value for key, value in words.items() if value},
    }


def _outcome(status: Json, report: Report, now: datetime) -> Any:
    """Return the reported outcome in the form of the status. An equal one in the status keeps its `postTime`, because
    a pod can repeat its post."""
    if report.outcome is None:
        return status.get("outcome")
    wanted = as_status(report.outcome).model_dump(mode="json", by_alias=True, exclude_none=True)
    found = mapping(status, "outcome")
    same = {key: value for key, value in found.items() if key != "postTime"} == wanted
    return found if same else {**wanted, "postTime": times.written(now)}


def _resolved(status: Json, report: Report) -> Json:
    """Return the trainer's part of `status.resolved`. Known values stay."""
    found = mapping(status, "resolved")
    reported = report.progress.resolved if report.progress else None
    new = reported.model_dump(mode="json", exclude_none=True) if reported else {}
    names = ("batchSize", "globalBatchSize", "learningRateFactor")
    return {name: new.get(name, found.get(name)) for name in names if new.get(name, found.get(name)) is not None}
