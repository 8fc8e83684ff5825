"""The lines about a search and its trials, for people."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainwright_trainer.callbacks import formats
from trainwright_trainer.search.objective import Objective
from trainwright_trainer.search.trials import Trial, ended, ranked

MAX_CHARACTERS_OF_A_VALUE = 40


@dataclass(frozen=True)
class SearchPlan:
    """A search as its displays show it. `total` and `budget` (in seconds) are None without a limit."""

    name: str
    objective: Objective
    parameters: Sequence[str]
    total: int | None
    budget: float | None
    concurrent: int
    method: str
    scheduler: str

    @property
    def line(self) -> str:
        goal = "maximize" if self.objective.maximize else "minimize"
        limit = [] if self.budget is None else [f"at most {formats.duration(self.budget)}"]
        total = formats.counted(self.total, "trial") if self.total else "trials without a limit"
        what = [total, f"{self.concurrent} at a time", *limit, self.method, f"scheduler {self.scheduler}"]
        return f"{self.name}: search of {' · '.join(what)} · {goal} {self.objective.name}"

    def left(self, trials: Sequence[Trial], seconds: float) -> float:
        """An estimate of the seconds that are left: the trials at the pace so far, within the budget."""
        done = ended(trials)
        pace = math.inf if not self.total or not done else seconds * (self.total - done) / done
        return max(0.0, min(pace, math.inf if self.budget is None else self.budget - seconds))


def short_names(names: Sequence[str]) -> dict[str, str]:
    """The end of each parameter's path that no other one has: `learning_rate` for `trainer.learning_rate`."""
    return {name: next(end for end in _ends(name) if end == name or _is_unique(end, names)) for name in names}


def _ends(name: str) -> Sequence[str]:
    parts = [part for part in name.split(".") if part]
    return [*(".".join(parts[-count:]) for count in range(1, len(parts))), name]


def _is_unique(end: str, names: Sequence[str]) -> bool:
    return sum(f".{name}".endswith(f".{end}") for name in names) == 1


def value(item: Any) -> str:
    """A value of a parameter in a few letters."""
    if isinstance(item, float):
        return formats.rate_of_learning(item)
    text = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
    return formats.shorten(text, MAX_CHARACTERS_OF_A_VALUE)


def values(given: Mapping[str, Any]) -> str:
    return " · ".join(f"{name} {value(item)}" for name, item in given.items())


def begin_line(trial: Trial) -> str:
    parent = "" if trial.origin is None else f" in place of {trial.origin.replaces}, from trial {trial.origin.trial}"
    return f"trial {trial.id} begins{parent}: {values(trial.values)}"


def end_line(plan: SearchPlan, trial: Trial, trials: Sequence[Trial]) -> str:
    """The end of a trial, and the state of the search after it."""
    assert trial.end is not None
    total = f"/{plan.total}" if plan.total else ""
    counts = f"{ended(trials)}{total} trials"
    best = next(iter(ranked(trials, plan.objective)), None)
    so_far = [counts] if best is None else [counts, f"best {formats.score(best.score)} (trial {best.id})"]
    if trial.end.kind == "failed":
        return " · ".join([f"trial {trial.id} failed: {trial.end.line}", *so_far])
    last = trial.scores[-1] if trial.scores else None
    rounds = [] if last is None else [f"epoch {last.epoch + 1}", formats.duration(last.seconds)]
    score = f"{plan.objective.metric} {formats.score(trial.score)}"
    return " · ".join([f"trial {trial.id} {trial.end.kind}: {score}", *rounds, *so_far])
