"""The trials of a search as plain values, and their order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from trainwright_trainer.search.objective import Objective

Kind = Literal["done", "stopped", "failed", "replaced"]
"""`done`: trained to its end; `stopped`: ended by the scheduler; `failed`: without a model; `replaced`: stopped, and
another trial goes on in its place from the checkpoint of a third."""


@dataclass(frozen=True)
class Score:
    """The score after an evaluation round. `seconds`: training time of the trial; `order`, `at`: as in `Trial`.

    `value`: the metric of the best round so far; `latest`: that of this round. `is_last`: no step follows.
    """

    order: int
    round: int
    epoch: int
    step: int
    value: float
    seconds: float
    at: float
    latest: float | None = None
    is_last: bool = False


@dataclass(frozen=True)
class End:
    """`line`: for a failed trial, the reason; `mistake`: whether the user can correct it."""

    order: int
    kind: Kind
    at: float
    line: str = ""
    mistake: bool = False


@dataclass(frozen=True)
class Origin:
    """The checkpoint of the trial `trial` that another one begins with, in the place of the trial `replaces`.

    `generation`: the number of perturbations that the checkpoint lies behind, as `population.py` counts them.
    """

    trial: str
    checkpoint: str
    replaces: str
    generation: int


@dataclass(frozen=True)
class Trial:
    """One set of values. `suggestion`: the same as the search algorithm gave it; empty for a trial with an `origin`.

    `order`: the position of the event in the search; `at`: seconds since the search began, over all its processes.
    """

    id: str
    values: Mapping[str, Any]
    suggestion: Mapping[str, Any]
    order: int
    at: float
    scores: tuple[Score, ...] = ()
    end: End | None = None
    origin: Origin | None = None

    @property
    def score(self) -> float:
        return self.scores[-1].value if self.scores else math.nan

    @property
    def rounds(self) -> int:
        """The number of its last round. A trial with an origin counts those before its checkpoint too."""
        return self.scores[-1].round if self.scores else 0

    @property
    def is_trained(self) -> bool:
        """True if no step follows its last round."""
        return bool(self.scores) and self.scores[-1].is_last

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
        origin = Origin(**plain["origin"]) if plain.get("origin") else None
        end = End(**plain["end"]) if plain["end"] else None
        return cls(**{**plain, "scores": scores, "end": end, "origin": origin})


def ranked(trials: Iterable[Trial], objective: Objective) -> list[Trial]:
    """The trials with a score, the best first; of equal ones the earlier first. Failed trials have no model."""
    known = [trial for trial in trials if not math.isnan(trial.score) and trial.state != "failed"]
    return sorted(known, key=lambda trial: (objective.key(trial.score), trial.id))


def stopped(trial: Trial) -> Trial:
    """A trial as the result of its search shows it. Without an end, the time budget has stopped it, and more time would
    continue it."""
    order, at = trial.last
    return trial if trial.end is not None else replace(trial, end=End(order, "stopped", at))


def replaced(trials: Iterable[Trial]) -> frozenset[str]:
    """The trials in whose place another one goes on."""
    return frozenset(trial.origin.replaces for trial in trials if trial.origin is not None)


def ended(trials: Sequence[Trial]) -> int:
    """The trials that have ended. Of a chain of replaced trials only the last one counts."""
    gone = replaced(trials)
    return sum(trial.end is not None and trial.id not in gone for trial in trials)


def running(trials: Sequence[Trial]) -> int:
    """The trials that have begun and not ended: they run, or wait to go on."""
    gone = replaced(trials)
    return sum(trial.end is None and trial.id not in gone for trial in trials)
