"""The trials of a search as plain values, and their order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from trainwright_trainer.search.objective import Objective

Kind = Literal["done", "stopped", "failed"]
"""`done`: trained to its end; `stopped`: ended by the scheduler; `failed`: without a model."""


@dataclass(frozen=True)
class Score:
    """The score after an evaluation round. `seconds`: training time of the trial; `order`, `at`: as in `Trial`."""

    order: int
    round: int
    epoch: int
    step: int
    value: float
    seconds: float
    at: float


@dataclass(frozen=True)
class End:
    """`line`: for a failed trial, the reason; `mistake`: whether the user can correct it."""

    order: int
    kind: Kind
    at: float
    line: str = ""
    mistake: bool = False


@dataclass(frozen=True)
class Trial:
    """One set of values. `suggestion`: the same as the search algorithm gave it.

    `order`: the position of the event in the search; `at`: seconds since the search began, over all its processes.
    """

    id: str
    values: Mapping[str, Any]
    suggestion: Mapping[str, Any]
    order: int
    at: float
    scores: tuple[Score, ...] = ()
    end: End | None = None

    @property
    def score(self) -> float:
        return self.scores[-1].value if self.scores else math.nan

    @property
    def state(self) -> str:
        return "running" if self.end is None else self.end.kind

    @property
    def last(self) -> tuple[int, float]:
        """The order and the time of its last event."""
        events = [(self.order, self.at), *((score.order, score.at) for score in self.scores[-1:])]
        return max([*events, *([(self.end.order, self.end.at)] if self.end else [])])

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Trial:
        scores = tuple(Score(**score) for score in plain["scores"])
        return cls(**{**plain, "scores": scores, "end": End(**plain["end"]) if plain["end"] else None})


def ranked(trials: Iterable[Trial], objective: Objective) -> list[Trial]:
    """The trials with a score, the best first; of equal ones the earlier first. Failed trials have no model."""
    known = [trial for trial in trials if not math.isnan(trial.score) and trial.state != "failed"]
    return sorted(known, key=lambda trial: (objective.key(trial.score), trial.id))


def ended(trials: Sequence[Trial]) -> int:
    return sum(trial.end is not None for trial in trials)
