"""outcome.json, the last file that an attempt writes."""

from __future__ import annotations

from datetime import UTC, datetime

from trainwright_api.resource.redaction import redacted_text
from trainwright_trainer.errors import OUTCOME_CLASSES, Outcome
from trainwright_trainer.rundir import json_text, layout
from trainwright_trainer.storage.base import Storage

LOG_LINES, LOG_COLUMNS = 50, 500


def write(storage: Storage, attempt: int, outcome: Outcome) -> None:
    """Write outcome.json. Secrets of a known form are redacted. Raises EnvironmentFailure."""
    body = {
        "format": layout.FORMAT,
        "attempt": attempt,
        "class": outcome.kind,
        "exit_code": int(outcome.exit_code),
        "line": redacted_text(outcome.line),
        "log": [redacted_text(line)[:LOG_COLUMNS] for line in outcome.log[-LOG_LINES:]],
        "time": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
    }
    storage.write(layout.outcome(attempt), [json_text.for_people(body)])


def read(storage: Storage, attempt: int) -> Outcome | None:
    """The attempt's outcome; None if it still runs, was killed, or if this version does not know its class."""
    try:
        body = json_text.parse(storage.read(layout.outcome(attempt)))
        return Outcome(body["class"], body["line"], tuple(body["log"])) if body["class"] in OUTCOME_CLASSES else None
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
