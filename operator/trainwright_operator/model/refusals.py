"""Why a controller could not create a pod, in one line: from an event of a Job, or from the status of a RayJob."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from trainwright_operator.model.reading import mapping, text

FAILED_CREATE = "FailedCreate"
"""The reason of such an event of the Job controller."""
EXCEEDED_QUOTA = "exceeded quota"
"""The words of the API server about a ResourceQuota."""
MESSAGE_CHARACTERS = 500
_BEFORE = re.compile(r'.*?pods? "[^"]*" is forbidden: ', re.DOTALL)
"""The text before the cause. It has the random name of a pod, which would change the status with each event."""


def cause(message: str) -> str:
    return " ".join(_BEFORE.sub("", message, count=1).split())[:MESSAGE_CHARACTERS]


def newest_cause(events: Iterable[Mapping[str, Any]]) -> str:
    """Return the cause that the newest event names, "" without any event."""
    return cause(text(max(events, key=_time, default={}).get("note")))


def regarding(event: Mapping[str, Any]) -> str:
    """Return the name of the object that the event is about."""
    return text(mapping(event, "regarding").get("name"))


def _time(event: Mapping[str, Any]) -> str:
    """The time of the last occurrence, as text, which sorts by time."""
    repeated = text(mapping(event, "series").get("lastObservedTime")) or text(event.get("deprecatedLastTimestamp"))
    return repeated or text(event.get("eventTime"))
