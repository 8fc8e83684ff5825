"""The score of a trial: the metric of the search for the model that the trial has, or would have if it ended now."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from trainwright_api.config.hyperopt import HyperoptConfig
from trainwright_trainer.callbacks.events import Evaluated, Scores, best_of


@dataclass(frozen=True)
class Objective:
    """`split`: train, validation or test, as in the events of a run."""

    feature: str
    metric: str
    split: str
    maximize: bool

    @classmethod
    def of(cls, search: HyperoptConfig) -> Objective:
        return cls(search.output_feature, search.metric, split_of(search.split), search.goal == "maximize")

    @property
    def name(self) -> str:
        """For messages: `validation late.roc_auc`."""
        return f"{self.split} {self.feature}.{self.metric}"

    @property
    def mode(self) -> str:
        """Ray Tune's word."""
        return "max" if self.maximize else "min"

    def of_rounds(self, rounds: Sequence[Evaluated]) -> float:
        """The metric of the best round so far, whose weights are the model. NaN if there is none."""
        best = best_of(rounds)
        return math.nan if best is None else self.of_scores(best.scores.get(self.split, {}))

    def of_scores(self, scores: Scores) -> float:
        value = scores.get(self.feature, {}).get(self.metric)
        return math.nan if value is None else float(value)

    def key(self, score: float) -> float:
        """A sort key: the best score comes first, NaN last."""
        return math.inf if math.isnan(score) else -score if self.maximize else score


def split_of(word: str) -> str:
    """The name of a split in the events of a run."""
    return "train" if word == "training" else word
