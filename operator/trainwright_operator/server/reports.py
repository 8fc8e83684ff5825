"""Parse a pod's report and keep its usable parts.

A pod's image may have another version than the operator, and its numbers may be NaN or of any size. So unknown and
out-of-range fields are dropped, and the rest of the report is kept. The uid, the attempt and the outcome's class must
be valid.
"""

from __future__ import annotations

import json
import math
from typing import Any

from pydantic import ValidationError

from trainwright_api.checks.error_messages import lines
from trainwright_api.paths import Location, dotted
from trainwright_api.resource.messages import LINE_CHARACTERS, LOG_BYTES, Report, last_bytes, redacted_outcome
from trainwright_api.resource.redaction import redacted_text

_NEEDED: frozenset[Location] = frozenset(
    {(), ("uid",), ("attempt",), ("progress",), ("outcome",), ("outcome", "attempt"), ("outcome", "class")}
)


def read_report(body: bytes) -> Report:
    """Parse a report. Raises ValueError with one line if it is not one."""
    try:
        data = json.loads(body)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    report = _validated(_within_bounds(data))
    if report.progress is None and report.outcome is None:
        raise ValueError("neither progress nor outcome in it")
    if report.outcome is not None and report.outcome.attempt != report.attempt:
        raise ValueError("outcome.attempt is another than attempt")
    return report.model_copy(update={"outcome": redacted_outcome(report.outcome)}) if report.outcome else report


def _validated(data: Any) -> Report:
    """Validate, and drop invalid fields until the rest is valid. Every iteration drops a field or raises."""
    while True:
        try:
            return Report.model_validate(data)
        except ValidationError as error:
            _leave_out(data, lines(error))


def _leave_out(data: Any, wrong: list[tuple[Location, str]]) -> None:
    """Drop the invalid fields. Raises ValueError for a required field."""
    gone: set[Location] = set()
    for location, message in wrong:
        if any(location[:length] in gone for length in range(len(location) + 1)):
            continue
        out = _spared(data, location)
        if out is None:
            raise ValueError(f"{dotted(location)}: {message}" if location else message)
        gone.add(out)


def _spared(data: Any, location: Location) -> Location | None:
    """Remove the invalid field from `data` and return its location; None if it is required.

    If the field is missing, remove the parent that lacks it.
    """
    if location in _NEEDED:
        return None
    *parents, last = location
    holder = data
    for key in parents:
        holder = holder.get(key) if isinstance(holder, dict) else None
    if isinstance(holder, dict) and last in holder:
        del holder[last]
        return location
    return _spared(data, tuple(parents))


def _within_bounds(data: Any) -> Any:
    """Truncate texts, and clip the fraction to [0, 1]."""
    progress, outcome = (data.get(key) for key in ("progress", "outcome")) if isinstance(data, dict) else (None, None)
    if isinstance(progress, dict) and _is_number(progress.get("fraction")):
        progress["fraction"] = min(1.0, max(0.0, progress["fraction"]))
    if isinstance(outcome, dict):
        # Redact before truncation, so that no half of a secret remains.
        if isinstance(outcome.get("line"), str):
            outcome["line"] = redacted_text(outcome["line"]).partition("\n")[0][:LINE_CHARACTERS]
        if isinstance(outcome.get("logTail"), str):
            outcome["logTail"] = last_bytes(redacted_text(outcome["logTail"]), LOG_BYTES)
    return data


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
