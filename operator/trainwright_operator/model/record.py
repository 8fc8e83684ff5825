"""The record of a job that each of its children carries: what a reset of the status must not lose."""

from __future__ import annotations

import json

from pydantic import ValidationError

from trainwright_api.resource.status import Attempt, TrainingJobStatus
from trainwright_operator.model import times
from trainwright_operator.model.observed import Child

RECORDED = (
    *("start_time", "retries", "preemptions", "resizes", "requeues", "active_seconds", "gpu_seconds"),
    *("preprocessed", "resolved", "output"),
)
"""The fields of the status that the record has, as they are when the child is created."""


def record_of(status: TrainingJobStatus) -> str:
    """Return the record as JSON."""
    found = status.model_dump(mode="json", by_alias=True, exclude_none=True, include=set(RECORDED))
    return json.dumps(found, separators=(",", ":"), sort_keys=True)


def read_back(children: tuple[Child, ...]) -> TrainingJobStatus | None:
    """Return the status that the newest child tells of: its attempt, and its record. None without a child."""
    newest = max(children, key=lambda child: (child.attempt, child.created), default=None)
    if newest is None:
        return None
    created = times.written(newest.created)
    attempt = Attempt(number=newest.attempt, child=newest.name, stage=newest.stage, create_time=created)
    known = {"attempts": [attempt], "attempt": newest.attempt, "child": newest.name, "start_time": created}
    return TrainingJobStatus.model_validate({**known, **_recorded(newest.record)})


def _recorded(record: str) -> dict[str, object]:
    """Return the fields of a record, none if it cannot be read."""
    try:
        status = TrainingJobStatus.model_validate_json(record)
    except ValidationError:
        return {}
    return {name: value for name in RECORDED if (value := getattr(status, name)) is not None}
