"""A report as it came over the wire, and what of it can be used.

A pod's image may be of another version than the operator, and its numbers may be NaN or of any size: what is unknown or
out of bounds is left out rather than that all is refused. Who reports, and how an attempt ended, must be right.
"""

from __future__ import annotations

import json
import math
from typing import Any

from pydantic import ValidationError

from trainwright_api.checks.error_messages import lines
from trainwright_api.paths import Location, dotted
from trainwright_api.resource.messages import LINE_LETTERS, LOG_BYTES, Report, last_bytes, redacted_outcome
from trainwright_api.resource.redaction import redacted_text

_NEEDED: frozenset[Location] = frozenset(
    {(), ("uid",), ("attempt",), ("progress",), ("outcome",), ("outcome", "attempt"), ("outcome", "class")}
)


def read_report(body: bytes) -> Report:
    """Raises ValueError with one line for what is none."""
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
    """Every round takes something out, or ends."""
    while True:
        try:
            return Report.model_validate(data)
        except ValidationError as error:
            _leave_out(data, lines(error))


def _leave_out(data: Any, wrong: list[tuple[Location, str]]) -> None:
    """Raises ValueError for what cannot be spared."""
    gone: set[Location] = set()
    for location, message in wrong:
        if any(location[:length] in gone for length in range(len(location) + 1)):
            continue
        out = _spared(data, location)
        if out is None:
            raise ValueError(f"{dotted(location)}: {message}" if location else message)
        gone.add(out)


def _spared(data: Any, location: Location) -> Location | None:
    """Takes what is wrong out of `data` and says what that was: where something is missing, what it is missing in."""
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
    """Texts are cut, a fraction is brought between 0 and 1."""
    progress, outcome = (data.get(key) for key in ("progress", "outcome")) if isinstance(data, dict) else (None, None)
    if isinstance(progress, dict) and _is_number(progress.get("fraction")):
        progress["fraction"] = min(1.0, max(0.0, progress["fraction"]))
    if isinstance(outcome, dict):
        # Before they are cut, so that no half of a secret stays.
        if isinstance(outcome.get("line"), str):
            outcome["line"] = redacted_text(outcome["line"]).partition("\n")[0][:LINE_LETTERS]
        if isinstance(outcome.get("logTail"), str):
            outcome["logTail"] = last_bytes(redacted_text(outcome["logTail"]), LOG_BYTES)
    return data


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
