"""The files that all attempts of a run share: they belong to the newest, and an older one leaves them alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trainwright_trainer.rundir import json_text, layout
from trainwright_trainer.rundir.attempt import Attempt
from trainwright_trainer.storage.base import Chunk


def write_job(attempt: Attempt, text: str) -> bool:
    """job.yaml. Secrets are the caller's to take out. False, here and below: a newer attempt has taken over."""
    return _write(attempt, layout.JOB, [text.encode()])


def write_resolved(attempt: Attempt, resolved: Mapping[str, Any], versions: Mapping[str, str]) -> bool:
    """resolved.json: what was derived at the start and is never derived again."""
    body = {"format": layout.FORMAT, "attempt": attempt.number, "resolved": resolved, "versions": versions}
    return _write(attempt, layout.RESOLVED, [json_text.for_people(body)])


def read_resolved(attempt: Attempt) -> dict[str, Any] | None:
    """What an earlier attempt of this run derived; None where none did."""
    body = _read(attempt, layout.RESOLVED)
    return None if body is None else dict(body["resolved"])


def write_metrics(attempt: Attempt, metrics: Mapping[str, Any]) -> bool:
    """metrics.json, whole. Not durable: a loss of power costs the last rounds, which the checkpoint knows."""
    return _write(attempt, layout.METRICS, [json_text.for_people(metrics)], durable=False)


def read_metrics(attempt: Attempt) -> dict[str, Any] | None:
    """What earlier attempts of this run measured; None where there is nothing."""
    return _read(attempt, layout.METRICS)


def write_report(attempt: Attempt, page: Iterable[Chunk]) -> bool:
    """report.html."""
    return _write(attempt, layout.REPORT, page)


def _write(attempt: Attempt, name: str, chunks: Iterable[Chunk], *, durable: bool = True) -> bool:
    if attempt.superseded():
        return False
    attempt.storage.write(name, chunks, durable=durable)
    return True


def _read(attempt: Attempt, name: str) -> dict[str, Any] | None:
    """None where it is absent, unreadable, or what a kill left of a run that was overwritten."""
    try:
        body = json_text.parse(attempt.storage.read(name))
        ours = body["format"] == layout.FORMAT and attempt.first <= body["attempt"]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
    return dict(body) if ours else None
