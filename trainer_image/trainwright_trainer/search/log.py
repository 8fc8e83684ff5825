"""The state of a search in its run folder: `search/search.json`, and one file for each trial, replaced as a whole.

The events of all trials have one order. A search that continues tells a new search algorithm the same events in that
order, so nothing of Ray's state is stored, and nothing is unpickled.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.rundir import json_text, process_state
from trainwright_trainer.search.trials import End, Kind, Origin, Score, Trial
from trainwright_trainer.storage.base import Storage

FORMAT = 1
FOLDER = "search/"
ABOUT = f"{FOLDER}search.json"
TRIALS = f"{FOLDER}trials/"
ATTEMPTS = f"{FOLDER}attempts/"
PARENTS = f"{FOLDER}parents/"
RUNS = "trials/"


def read_about(storage: Storage) -> dict[str, Any] | None:
    """The job of the search in `storage`; None if there is no search."""
    try:
        return dict(json_text.parse(storage.read(ABOUT)))
    except FileNotFoundError:
        return None


class Turn:
    """The right of one process to write the state of a search. A later process takes it away.

    After the loss of a node, a new process may begin while the old one still runs somewhere.
    """

    def __init__(self, storage: Storage, number: int | None) -> None:
        """Take the turn. `number`: that of the operator's attempt; None: the next free one. Raises
        `EnvironmentFailure` if another process has it."""
        self._storage = storage
        self._number = number or max(self._taken(), default=0) + 1
        if not storage.create(f"{ATTEMPTS}{self._number}.json", json_text.for_people(process_state.identity_now())):
            raise EnvironmentFailure(f"{storage.location}: another process has just begun to search here")

    def check(self) -> None:
        """Raise `EnvironmentFailure` if a later process has begun."""
        if max(self._taken(), default=0) > self._number:
            raise EnvironmentFailure(f"{self._storage.location}: a later process goes on with this search")

    def _taken(self) -> list[int]:
        return _turns(self._storage)


def _turns(storage: Storage) -> list[int]:
    names = (entry.removesuffix(".json") for entry in storage.list(ATTEMPTS))
    return [int(name) for name in names if name.isdecimal()]


def other_process(storage: Storage) -> int | None:
    """The id of the process that searches here, if that is another one of this machine."""
    newest = max(_turns(storage), default=None)
    if newest is None:
        return None
    return process_state.other_process(json_text.parse(storage.read(f"{ATTEMPTS}{newest}.json")))


class SearchLog:
    """All trials of a search. Every change is in the run folder before the method returns."""

    def __init__(
        self,
        storage: Storage,
        trials: Sequence[Trial] = (),
        *,
        turn: Turn | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`turn`: None for a process that only reads; `clock` returns seconds."""
        self._storage, self._turn, self._clock = storage, turn, clock
        self._changed: Callable[[Trial], None] = lambda _: None
        self._trials = {trial.id: trial for trial in trials}
        last = [trial.last for trial in trials]
        self._order = max((order for order, _ in last), default=0)
        self._began = clock() - max((at for _, at in last), default=0.0)

    @classmethod
    def begin(cls, storage: Storage, about: Mapping[str, Any], **more: Any) -> SearchLog:
        """The log of a new search."""
        storage.write(ABOUT, [json_text.for_people({"format": FORMAT, **about})])
        return cls(storage, **more)

    @classmethod
    def read(cls, storage: Storage, **more: Any) -> SearchLog:
        """The log of a search that continues."""
        names = [name for name in storage.list(TRIALS) if name.endswith(".json")]
        found = [Trial.from_json(json_text.parse(storage.read(TRIALS + name))) for name in names]
        return cls(storage, found, **more)

    def listen(self, changed: Callable[[Trial], None]) -> None:
        """Call `changed` after each change of a trial."""
        self._changed = changed

    @property
    def trials(self) -> Sequence[Trial]:
        """In the order of their ids."""
        return tuple(self._trials.values())

    @property
    def order(self) -> int:
        """That of the newest event."""
        return self._order

    @property
    def seconds(self) -> float:
        """Since the search began, without the time in which no process searched."""
        return self._clock() - self._began

    def trial(self, name: str) -> Trial:
        return self._trials[name]

    def next_id(self) -> str:
        return f"{len(self._trials) + 1:04d}"

    def add(self, values: Mapping[str, Any], suggestion: Mapping[str, Any], origin: Origin | None = None) -> Trial:
        """Begin a trial under the next id."""
        return self._write(Trial(self.next_id(), values, suggestion, self._next(), self.seconds, origin=origin))

    def add_score(self, name: str, *, round_: int, value: float, **measured: Any) -> Trial:
        """`measured`: the other fields of the score, but its order and its time."""
        trial = self._trials[name]
        score = Score(order=self._next(), round=round_, value=value, at=self.seconds, **measured)
        return self._write(replace(trial, scores=(*trial.scores, score)))

    def end(self, name: str, kind: Kind, line: str = "", *, mistake: bool = False) -> Trial:
        return self._write(replace(self._trials[name], end=End(self._next(), kind, self.seconds, line, mistake)))

    def _next(self) -> int:
        self._order += 1
        return self._order

    def _write(self, trial: Trial) -> Trial:
        if self._turn is not None:
            self._turn.check()
        self._storage.write(f"{TRIALS}{trial.id}.json", [json_text.exact(trial.to_json())])
        self._trials[trial.id] = trial
        self._changed(trial)
        return trial
