"""The outcome of an attempt: outcome.json, the last file that an attempt writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from trainwright_api.problems import Mistakes
from trainwright_api.resource.redaction import redacted_text
from trainwright_trainer.errors import EnvironmentFailure, StoppedRun
from trainwright_trainer.rundir import json_text, layout
from trainwright_trainer.storage.base import Storage

Kind = Literal["done", "mistake", "environment", "crash", "stopped"]
EXIT_CODES: dict[Kind, int] = {"done": 0, "mistake": 2, "environment": 3, "crash": 1, "stopped": 75}
LOG_LINES, LOG_COLUMNS = 50, 500


@dataclass(frozen=True)
class Outcome:
    """`kind` is the file's `class`; `line` is one readable line, `log` the last lines of the log."""

    kind: Kind
    line: str
    log: Sequence[str] = ()

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.kind]

    @classmethod
    def of(cls, error: BaseException, log: Sequence[str] = ()) -> Outcome:
        """The outcome for the exception that ended the run; its kind determines if a retry can help."""
        kind, line = _kind(error), str(error).partition("\n")[0]
        if kind == "crash":
            # The message of a bug may be a single word, as in a KeyError: it needs the name of the exception.
            line = ": ".join(word for word in (type(error).__name__, line) if word)
        return cls(kind, line or "not enough memory on this machine", log)


TRAINED = Outcome("done", "the model is there")


def _kind(error: BaseException) -> Kind:
    if isinstance(error, Mistakes):
        return "mistake"
    if isinstance(error, (EnvironmentFailure, MemoryError)):
        return "environment"
    return "stopped" if isinstance(error, StoppedRun) else "crash"


def write(storage: Storage, attempt: int, outcome: Outcome) -> None:
    """Write outcome.json. Secrets of a known form are redacted. Raises EnvironmentFailure."""
    body = {
        "format": layout.FORMAT,
        "attempt": attempt,
        "class": outcome.kind,
        "exit_code": outcome.exit_code,
        "line": redacted_text(outcome.line),
        "log": [redacted_text(line)[:LOG_COLUMNS] for line in outcome.log[-LOG_LINES:]],
        "time": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
    }
    storage.write(layout.outcome(attempt), [json_text.for_people(body)])


def read(storage: Storage, attempt: int) -> Outcome | None:
    """The attempt's outcome; None if it still runs, was killed, or if this version does not know its class."""
    try:
        body = json_text.parse(storage.read(layout.outcome(attempt)))
        return Outcome(body["class"], body["line"], tuple(body["log"])) if body["class"] in EXIT_CODES else None
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
