"""How a file without a trainer section is trained: one pure function of the data's shape. docs/recipe.md is its table.

The linear model that Ludwig's defaults make (inputs side by side, one layer) then ends where logistic or ridge
regression ends: a penalty of one half over the rows, as in scikit-learn, and a rate that falls to zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainwright_api.config import ModelConfig
from trainwright_api.config.trainer import TrainerConfig

# Below so many validation rows a share or a rank moves in steps that are larger than what an epoch changes.
FEW_ROWS = 1_000
# How far a weight can go in a whole run, in standard deviations of its input and its target.
_TRAVEL = 25.0
_FASTEST = 0.1


@dataclass(frozen=True)
class Recipe:
    """`trainer`: what the section would say. `tolerance`: by what part a validation loss may be worse by chance."""

    trainer: Mapping[str, Any]
    tolerance: float

    @property
    def line(self) -> str:
        """What is told at the start."""
        it = self.trainer
        return (
            f"recipe (the file has no trainer section): at most {it['epochs']} epochs, "
            f"{it['effective_batch_size']:,} rows a step, adam {it['learning_rate']:.2g} falling to 0, "
            f"l2 {it['regularization_lambda']:.2g}, early stop after {it['early_stop']} rounds. "
            "For Ludwig's defaults: trainer: ludwig"
        )


def recipe(rows: int, validation_rows: int, inputs: int, outputs: Sequence[str]) -> Recipe:
    """For `rows` of the training split, `validation_rows`, so many inputs, and the types of the outputs."""
    classes = all(kind in ("binary", "category") for kind in outputs)
    batch = _power_of_two(math.sqrt(rows) / 2, 8, 1_024)
    steps = math.ceil(rows / batch)
    epochs = min(60, max(10, round(4_000 / steps)))
    rate = min(_FASTEST, 2 * _TRAVEL / (steps * epochs), 1 / math.sqrt(rows), 0.5 / inputs)
    trainer = {
        "epochs": epochs,
        "effective_batch_size": batch,
        "gradient_accumulation_steps": 1,
        "learning_rate": float(f"{rate:.2g}"),
        "learning_rate_scheduler": {"decay": "linear", "warmup_fraction": 0.05},
        "regularization_type": "l2",
        # With several outputs the units of their losses differ, and so would what the penalty costs each of them.
        "regularization_lambda": float(f"{0.5 / rows:.2g}") if len(outputs) == 1 else 0.0,
        # Squares have long tails: clipped at Ludwig's 0.5, the steps of a small batch lead away from the mean.
        "gradient_clipping": {"clipglobalnorm": 0.5 if classes else 5.0},
        "early_stop": max(5, epochs // 3),
    }
    few = 0 < validation_rows < FEW_ROWS
    return Recipe(trainer, round(1 / math.sqrt(validation_rows), 4) if few else 0.0)


def settled(
    given: ModelConfig, config: ModelConfig, rows: int, validation_rows: int
) -> tuple[ModelConfig, Recipe | None]:
    """The config that is trained with, and the recipe where it is ours. `given`: as in the file; `config`: resolved."""
    found = None
    section = config.trainer
    if "trainer" not in given.model_fields_set:
        found = recipe(rows, validation_rows, len(config.input_features), [one.type for one in config.output_features])
        section = TrainerConfig.model_validate(found.trainer)
    if 0 < validation_rows < FEW_ROWS and _names_no_metric(given, config):
        section = section.model_copy(update={"validation_metric": "loss"})
    return config.model_copy(update={"trainer": section}), found


def _names_no_metric(given: ModelConfig, config: ModelConfig) -> bool:
    """Whether neither the trainer section nor the output that decides says which metric decides."""
    if "validation_metric" in given.trainer.model_fields_set:
        return False
    decides = given.trainer.validation_field or config.output_features[0].name
    feature = next((one for one in given.output_features if one.name == decides), None)
    return feature is None or "default_validation_metric" not in feature.model_fields_set


def _power_of_two(value: float, least: int, most: int) -> int:
    return int(min(most, max(least, 2 ** round(math.log2(max(1.0, value))))))
