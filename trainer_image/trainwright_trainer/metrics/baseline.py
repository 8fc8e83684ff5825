"""Comparison of a model with a baseline: always the mean of the training rows, or always their most frequent class."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from trainwright_trainer.callbacks import formats
from trainwright_trainer.report.data import OutputFigures

# Output type → the compared score: the error of numbers, the share of correctly classified rows of classes, the
# overlap of sets.
_COMPARED = {
    "number": "mean_squared_error",
    "vector": "mean_squared_error",
    "binary": "accuracy",
    "category": "accuracy_micro",
    "set": "jaccard",
    "sequence": "token_accuracy",
    "text": "token_accuracy",
}
_RANKING = "roc_auc"


@dataclass(frozen=True)
class Comparison:
    """One output's test score and the baseline's. `ranking`: the ROC-AUC, if it is defined."""

    output: str
    metric: str
    model: float
    baseline_name: str
    baseline: float
    ranking: float | None = None

    @property
    def better(self) -> bool:
        return self.model < self.baseline if formats.lower_is_better(self.metric) else self.model > self.baseline

    @property
    def phrase(self) -> str:
        """The text for the last line of output: `mean_squared_error 46 % below that of predicting always the mean`."""
        if self.metric in ("jaccard", "token_accuracy"):
            model, baseline = formats.score(self.model), formats.score(self.baseline)
            return f"{self.metric} {model}, {baseline} by {self._prediction}"
        if not formats.lower_is_better(self.metric):
            return f"{formats.percent(self.model)} right, {formats.percent(self.baseline)} by {self._prediction}"
        if not self.baseline:
            return f"{self.metric} {formats.score(self.model)}, 0 by {self._prediction}"
        change = self.model / self.baseline - 1
        side = "below" if change < 0 else "above"
        return f"{self.metric} {formats.percent(abs(change))} {side} that of {self._prediction}"

    @property
    def warning(self) -> str | None:
        """The warning if the model is not better than the baseline; else None."""
        if self.better:
            return None
        found = f"{self.metric} {formats.score(self.model)}, {formats.score(self.baseline)} by {self._prediction}"
        if self.ranking is not None and self.ranking > 0.5:
            more = (
                f" Its ranking is better than chance ({_RANKING} {formats.score(self.ranking)}): try another threshold."
            )
        else:
            more = " Look at the inputs, and at the learning curves in the report."
        return f"warning: {self.output} is predicted no better than without a model ({found}).{more}"

    @property
    def _prediction(self) -> str:
        return f"predicting {self.baseline_name}"

    def to_json(self) -> dict[str, Any]:
        """The entry in metrics.json."""
        return {name: value for name, value in asdict(self).items() if name != "output"} | {"better": self.better}


def comparisons(outputs: Iterable[OutputFigures]) -> list[Comparison]:
    """One comparison for each output with both scores finite, in the order of the config."""
    found = []
    for output in outputs:
        metric = _COMPARED[output.type]
        for name, scores in output.baselines.items():
            pair = output.scores.get(metric, math.nan), scores.get(metric, math.nan)
            if all(math.isfinite(one) for one in pair):
                found.append(Comparison(output.name, metric, pair[0], name, pair[1], output.scores.get(_RANKING)))
    return found
