"""The files that all attempts of a run share. They belong to the newest attempt; an older one does not write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trainwright_trainer.rundir import json_text, layout
from trainwright_trainer.rundir.attempt import Attempt
from trainwright_trainer.storage.base import Chunk


def write_job(attempt: Attempt, text: str) -> bool:
    """Write job.yaml. The caller redacts secrets. Every writer here returns False if a newer attempt has started."""
    return _write(attempt, layout.JOB, [text.encode()])


def write_resolved(attempt: Attempt, resolved: Mapping[str, Any], versions: Mapping[str, str]) -> bool:
    """Write resolved.json: the values that are resolved at the start of the run and never again."""
    body = {"format": layout.FORMAT, "attempt": attempt.number, "resolved": resolved, "versions": versions}
    return _write(attempt, layout.RESOLVED, [json_text.for_people(body)])


def read_resolved(attempt: Attempt) -> dict[str, Any] | None:
    """The values that an earlier attempt of this run resolved; None if there are none."""
    body = _read(attempt, layout.RESOLVED)
    return None if body is None else dict(body["resolved"])


def write_metrics(attempt: Attempt, metrics: Mapping[str, Any]) -> bool:
    """Write all of metrics.json. Not durable: a power loss may lose recent evaluations, which the checkpoint holds."""
    return _write(attempt, layout.METRICS, [json_text.for_people(metrics)], durable=False)


def read_metrics(attempt: Attempt) -> dict[str, Any] | None:
    """The metrics of earlier attempts of this run; None if there are none."""
    return _read(attempt, layout.METRICS)


def write_reports(attempt: Attempt, reports: Mapping[str, Any]) -> bool:
    """Write all of reports.json: the reports of a user's own train function."""
    return _write(attempt, layout.REPORTS, [json_text.for_people(reports)], durable=False)


def read_reports(attempt: Attempt) -> dict[str, Any] | None:
    """The reports of earlier attempts of this run; None if there are none."""
    return _read(attempt, layout.REPORTS)


def write_report(attempt: Attempt, page: Iterable[Chunk]) -> bool:
    """Write report.html."""
    return _write(attempt, layout.REPORT, page)


def _write(attempt: Attempt, name: str, chunks: Iterable[Chunk], *, durable: bool = True) -> bool:
    if attempt.superseded():
        return False
    attempt.storage.write(name, chunks, durable=durable)
    return True


def _read(attempt: Attempt, name: str) -> dict[str, Any] | None:
    """None if the file is absent, cannot be parsed, or belongs to a run that was overwritten and not fully deleted."""
    try:
        body = json_text.parse(attempt.storage.read(name))
        ours = body["format"] == layout.FORMAT and attempt.first <= body["attempt"]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
    return dict(body) if ours else None
