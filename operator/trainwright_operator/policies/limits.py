"""The limits of a job. The schema validates them, so they can be read from a spec that is invalid for other reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainwright_api.resource.job import TrainingJobSpec

_FIELDS = TrainingJobSpec.model_fields


@dataclass(frozen=True)
class Limits:
    backoff: int
    preemption: int
    active_deadline: int | None
    """Seconds."""
    start_deadline: int = _FIELDS["start_deadline_seconds"].default
    """Seconds."""

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Limits:
        deadline = spec.get("activeDeadlineSeconds")
        return cls(
            backoff=_number(spec, "backoffLimit", _FIELDS["backoff_limit"].default),
            preemption=_number(spec, "preemptionLimit", _FIELDS["preemption_limit"].default),
            active_deadline=deadline if isinstance(deadline, int) else None,
            start_deadline=_number(spec, "startDeadlineSeconds", _FIELDS["start_deadline_seconds"].default),
        )


def _number(spec: Mapping[str, Any], key: str, default: int) -> int:
    value = spec.get(key)
    return value if isinstance(value, int) else default
