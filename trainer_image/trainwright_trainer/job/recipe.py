"""The trainer section for a file without one: a pure function of the data's shape. docs/recipe.md has the table.

With it, the linear model of Ludwig's defaults (concatenated inputs, one layer) converges to the solution of logistic
or ridge regression: the penalty is about that of scikit-learn's default, and the learning rate falls to zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainwright_api.config import ModelConfig
from trainwright_api.config.trainer import TrainerConfig

# With fewer validation rows, a share or a rank metric changes in steps larger than the change of one epoch.
FEW_ROWS = 1_000
# With fewer, the standard error of these metrics is larger than the change of one epoch. On 20 splits of 20,000 flights
# (2,000 validation rows), the epochs with the best ROC-AUC were worse on the test rows than those with the least loss.
FEW_ROWS_OF_RECIPE = 10_000
# The distance that a weight can move in a whole run, in standard deviations of its input and its target.
_TRAVEL = 40.0
_FASTEST = 0.1
# The norm at which the gradient of one row's squared error is clipped; for a batch it falls as the batch's noise does.
# Clipped at Ludwig's 0.5, the steps of small batches are biased. With a larger norm, an outlier raises Adam's second
# moment so much that the weights of its columns hardly move for many steps.
_CLIP_OF_A_ROW = 12.0


@dataclass(frozen=True)
class Recipe:
    """`trainer`: the section's content. `tolerance`: the relative change of a validation loss that is noise."""

    trainer: Mapping[str, Any]
    tolerance: float

    @property
    def line(self) -> str:
        """The log line at the start."""
        it = self.trainer
        return (
            f"recipe (the file has no trainer section): at most {it['epochs']} epochs, "
            f"{it['effective_batch_size']:,} rows a step, adam {it['learning_rate']:.2g} falling to 0, "
            f"l2 {it['regularization_lambda']:.2g}, early stop after {it['early_stop']} rounds. "
            "For Ludwig's defaults: trainer: ludwig"
        )


def recipe(rows: int, validation_rows: int, width: int, outputs: Sequence[str]) -> Recipe:
    """The recipe for `rows` training rows, `validation_rows`, the width of all encoded inputs (a category counts the
    columns of its embedding), and the types of the outputs."""
    classes = all(kind in ("binary", "category") for kind in outputs)
    # Classes are learned to the end, with less noise a step: one row of a small table is worth more than a second.
    fewest, longest = (32, 100) if classes else (8, 60)
    batch = _power_of_two(math.sqrt(rows) / 2, fewest, 1_024)
    steps = math.ceil(rows / batch)
    epochs = min(longest, max(10, round(4_000 / steps)))
    penalty = (0.5 * _wide(width) if classes else 1.0) / rows
    # A step of Adam moves each weight by about the rate, so an output by at most the rate times the width: by half a
    # standard deviation of a number. The log-odds of classes may move by 1; with 0.5, wide tables of few rows do not
    # reach the solution of logistic regression.
    step = 1.0 if classes else 0.5
    rate = min(_FASTEST, 2 * _TRAVEL / (steps * epochs), step / width)
    trainer = {
        "epochs": epochs,
        "effective_batch_size": batch,
        "gradient_accumulation_steps": 1,
        "learning_rate": float(f"{rate:.2g}"),
        "learning_rate_scheduler": {"decay": "linear", "warmup_fraction": 0.05},
        "regularization_type": "l2",
        # With several outputs the units of their losses differ, so one penalty would weigh differently on each.
        "regularization_lambda": float(f"{penalty:.2g}") if len(outputs) == 1 else 0.0,
        "gradient_clipping": {"clipglobalnorm": 0.5 if classes else round(_CLIP_OF_A_ROW / math.sqrt(batch), 2)},
        # The weights settle while the rate falls: a run that stops before that loses more than it saves.
        "early_stop": max(5, 2 * epochs // 3),
    }
    few = 0 < validation_rows < FEW_ROWS_OF_RECIPE
    return Recipe(trainer, round(1 / math.sqrt(validation_rows), 4) if few else 0.0)


def settled(
    given: ModelConfig, config: ModelConfig, rows: int, validation_rows: int, width: int
) -> tuple[ModelConfig, Recipe | None]:
    """The config to train with, and its recipe if it has one. `given`: the config in the file; `config`: resolved."""
    found, few = None, FEW_ROWS
    section = config.trainer
    if "trainer" not in given.model_fields_set:
        few = FEW_ROWS_OF_RECIPE
        found = recipe(rows, validation_rows, width, [one.type for one in config.output_features])
        section = TrainerConfig.model_validate(found.trainer)
    if 0 < validation_rows < few and not section.skip_all_evaluation and _names_no_metric(given, config):
        section = section.model_copy(update={"validation_metric": "loss"})
    return config.model_copy(update={"trainer": section}), found


def _names_no_metric(given: ModelConfig, config: ModelConfig) -> bool:
    """True if neither the trainer section nor the monitored output names the validation metric."""
    if "validation_metric" in given.trainer.model_fields_set:
        return False
    decides = given.trainer.validation_field or config.output_features[0].name
    feature = next((one for one in given.output_features if one.name == decides), None)
    return feature is None or "default_validation_metric" not in feature.model_fields_set


def _wide(width: int) -> float:
    """The penalty of classes beside scikit-learn's. On 100 splits of breast cancer (30 columns), logistic regression
    with C = 0.7 is better than with its default of 1 by four standard errors; on iris (4 columns) it is worse by two.
    """
    return min(1.5, max(1.0, width / 10))


def _power_of_two(value: float, least: int, most: int) -> int:
    return int(min(most, max(least, 2 ** round(math.log2(max(1.0, value))))))
