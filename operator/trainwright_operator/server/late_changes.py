"""The warnings for a change of a job that has started: from when the changed fields act, or that they do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainwright_api.resource.status import ENDS
from trainwright_operator.model.reading import condition, mapping, mappings, number

OF_AN_ATTEMPT = ("image", "rayVersion", "podTemplate", "childMetadata", "credentials", "queueName", "gpuResourceName")
"""The fields that an attempt reads when its objects are created. No object is changed after that."""
OF_THE_START = ("workersPerPod",)
"""The fields that are resolved once, before the first attempt."""
AFTER_THE_END = ("ttlSecondsAfterFinished", "ttlPolicy")
"""The only fields that act after the end of a job."""


def warnings(new: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[str]:
    """Yield the warnings for an allowed change of a stored job."""
    status = mapping(old, "status")
    changed = _changed(mapping(new, "spec"), mapping(old, "spec"))
    if end := next((kind for kind in ENDS if condition(status, kind)), None):
        if found := [name for name in changed if name not in AFTER_THE_END]:
            yield f"{_listed(found)}: the job has ended ({end}), so the change does not act: create another job"
        return
    newest = max(mappings(status.get("attempts")), key=lambda attempt: number(attempt.get("number")) or 0, default={})
    if newest and (found := [name for name in changed if name in OF_THE_START]):
        words = "decided at the start of the job; the change acts only when a range of workers is resized"
        yield f"{_listed(found)}: {words}"
    is_open = newest and not newest.get("completionTime")
    if is_open and (found := [name for name in changed if name in OF_AN_ATTEMPT]):
        yield (
            f"{_listed(found)}: acts from the next attempt on; attempt {newest['number']} goes on without the change. "
            "To begin an attempt now, suspend and resume the job"
        )


def _changed(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[str]:
    return [name for name in sorted({*new, *old}) if new.get(name) != old.get(name)]


def _listed(names: list[str]) -> str:
    return ", ".join(names)
