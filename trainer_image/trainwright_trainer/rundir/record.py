"""The attempts and checkpoints of a run, read from its folder, and outcome.json, the last file of an attempt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from trainwright_api.resource.redaction import redacted_text
from trainwright_trainer.errors import OUTCOME_CLASSES, Outcome
from trainwright_trainer.rundir import json_text, layout, listing
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.process_state import NAMESPACE, other_process, process_state
from trainwright_trainer.storage.base import Storage

_PLAIN = ("format", "attempt", "fresh", "source", "name", "digest", "content", "job")
_ABOUT = ("launch", "host", "pid", NAMESPACE, "time")


@dataclass(frozen=True)
class Start:
    """start.json. `about` is information for people (versions, host, pid, time), and `launch`: the process that has
    started the processes of the attempt with a launcher, or null.
    """

    attempt: int
    fresh: bool
    checkpoint: CheckpointName | None
    source: str | None
    name: str
    digest: str
    content: str | None
    job: Mapping[str, Any]
    about: Mapping[str, Any] = field(default_factory=dict)
    format: int = layout.FORMAT

    def to_bytes(self) -> bytes:
        plain = {key: value for key, value in vars(self).items() if key != "about"}
        pinned = None if self.checkpoint is None else str(self.checkpoint)
        return json_text.for_people({"format": self.format, **plain, "checkpoint": pinned, **self.about})

    @classmethod
    def from_bytes(cls, data: bytes) -> Start | None:
        """None if the file is incomplete, as after a kill: the number is taken, and the other fields are unknown."""
        try:
            body = json_text.parse(data)
            known = {key: body[key] for key in _PLAIN}
            pinned = None if body["checkpoint"] is None else CheckpointName.parse(body["checkpoint"])
        except (ValueError, KeyError, TypeError):
            return None
        return cls(checkpoint=pinned, about={key: body.get(key) for key in _ABOUT}, **known)


_ENDED = {
    "running": "no, it runs on this machine",
    "killed": "no, it was killed",
    "not ended": "no, it runs or was killed",
}
"""The words for a run without an outcome."""


@dataclass(frozen=True)
class Run:
    """A run in its folder. `first` is its first attempt; files of earlier attempts are obsolete."""

    storage: Storage
    first: int
    newest: int
    start: Start | None
    """The start of the newest attempt whose start.json can be read."""
    outcome: Outcome | None
    """The outcome of the newest attempt; None while it trains, or if it was killed."""

    @property
    def done(self) -> bool:
        return self.outcome is not None and self.outcome.kind == "done"

    @property
    def name(self) -> str:
        return self.start.name if self.start else "unknown"

    @property
    def _begun(self) -> Start | None:
        """The start of the newest attempt, if that can be read."""
        return self.start if self.start and self.start.attempt == self.newest else None

    @property
    def state(self) -> str:
        """The class of the outcome, or running, killed or not ended.

        A run without an outcome is "not ended" if this machine cannot tell whether its process is still there.
        """
        if self.outcome is not None:
            return self.outcome.kind
        known = process_state(self._begun.about) if self._begun else "unknown"
        return "not ended" if known == "unknown" else known

    @property
    def other_process(self) -> int | None:
        """The id of the process that runs it, if that is another one of this machine."""
        return other_process(self._begun.about) if self._begun and self.outcome is None else None

    def checkpoints(self) -> list[CheckpointName]:
        """The complete checkpoints, from old to new."""
        return [name for name in listing.complete(self.storage) if name.attempt >= self.first]

    def __str__(self) -> str:
        count = len(self.checkpoints())
        ended = _ENDED.get(self.state, self.state)
        return f"{self.name}, {count} checkpoint{'' if count == 1 else 's'}, ended: {ended}"


def read_run(storage: Storage) -> Run | None:
    """The run in `storage`; None if it holds no run."""
    found = listing.started(storage)
    if not found:
        return None
    starts = {n: start for n in found if (start := Start.from_bytes(storage.read(layout.start(n)))) is not None}
    first = max((n for n, start in starts.items() if start.fresh), default=found[0])
    newest = max((n for n in starts if n >= first), default=None)
    return Run(storage, first, found[-1], None if newest is None else starts[newest], read_outcome(storage, found[-1]))


LOG_LINES, LOG_COLUMNS = 50, 500


def write_outcome(storage: Storage, attempt: int, outcome: Outcome) -> None:
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


def read_outcome(storage: Storage, attempt: int) -> Outcome | None:
    """The attempt's outcome; None if it still runs, was killed, or if this version does not know its class."""
    try:
        body = json_text.parse(storage.read(layout.outcome(attempt)))
        return Outcome(body["class"], body["line"], tuple(body["log"])) if body["class"] in OUTCOME_CLASSES else None
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
