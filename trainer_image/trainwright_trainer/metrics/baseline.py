"""How much better a model is than one who knows nothing but the training rows' mean, or their most common class."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from trainwright_trainer.callbacks import formats
from trainwright_trainer.report.data import OutputFigures

# The score that is compared, by the output's type: of numbers the error, of classes the plain share of right rows.
_COMPARED = {
    "number": "mean_squared_error",
    "vector": "mean_squared_error",
    "binary": "accuracy",
    "category": "accuracy_micro",
}
_RANKING = "roc_auc"


@dataclass(frozen=True)
class Comparison:
    """One output's test score beside the baseline's. `ranking`: ROC-AUC, where there is one."""

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
        """For the last line: `mean_squared_error 46 % below always the mean`."""
        if not formats.lower_is_better(self.metric):
            return f"{formats.percent(self.model)} right, {self.baseline_name} {formats.percent(self.baseline)}"
        if not self.baseline:
            return f"{self.metric} {formats.score(self.model)}, {self.baseline_name} 0"
        change = self.model / self.baseline - 1
        side = "below" if change < 0 else "above"
        return f"{self.metric} {formats.percent(abs(change))} {side} {self.baseline_name}"

    @property
    def warning(self) -> str | None:
        """Where the model is not better."""
        if self.better:
            return None
        found = f"{self.metric} {formats.score(self.model)}, {self.baseline_name} {formats.score(self.baseline)}"
        if self.ranking is not None and self.ranking > 0.5:
            more = f" It does order the rows ({_RANKING} {formats.score(self.ranking)}): look at the threshold."
        else:
            more = " Look at the inputs, and at the learning curves in the report."
        return f"warning: {self.output} is predicted no better than without a model ({found}).{more}"

    def to_json(self) -> dict[str, Any]:
        """For metrics.json."""
        return {name: value for name, value in asdict(self).items() if name != "output"} | {"better": self.better}


def comparisons(outputs: Iterable[OutputFigures]) -> list[Comparison]:
    """One for each output that has both scores, in the order of the config."""
    found = []
    for output in outputs:
        metric = _COMPARED[output.type]
        for name, scores in output.baselines.items():
            pair = output.scores.get(metric, math.nan), scores.get(metric, math.nan)
            if all(math.isfinite(one) for one in pair):
                found.append(Comparison(output.name, metric, pair[0], name, pair[1], output.scores.get(_RANKING)))
    return found
