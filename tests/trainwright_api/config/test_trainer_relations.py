"""Relations between the fields of the trainer section, and between them and the outputs."""

from __future__ import annotations

from typing import Any

import pytest
from tests.trainwright_api.config.test_relations import config, mistakes

from trainwright_api.config import ModelConfig

TWO = [("x", "number"), ("y", "binary")]
SCHEDULE = "trainer.learning_rate_scheduler"
PLATEAU = f"{SCHEDULE}.reduce_eval_metric"


def trainer(outputs: list[Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A small config with these fields of the trainer section."""
    return config(outputs=outputs, trainer=fields)


def scheduled(**fields: Any) -> dict[str, Any]:
    """A small config with these fields of the schedule."""
    return trainer(learning_rate_scheduler=fields)


def watched(metric: str, outputs: list[Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A small config with a metric that is monitored for a plateau."""
    return trainer(outputs, learning_rate_scheduler={"reduce_eval_metric": metric}, **fields)


IDLE = "does not act: skip_all_evaluation is true"


def unevaluated(outputs: list[Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A small config without evaluations."""
    return trainer(outputs, skip_all_evaluation=True, **fields)


TABLE: list[tuple[str, dict[str, Any], str, str]] = [
    ("a misspelt metric of the plateau", watched("acuracy"), PLATEAU, "is no metric of y: did you mean 'accuracy'?"),
    (
        "a plateau of what another output has",
        watched("roc_auc", TWO),
        PLATEAU,
        "'roc_auc' is no metric of x",
    ),
    (
        "a plateau of what the named output lacks",
        watched("r2", TWO, validation_field="y"),
        PLATEAU,
        "'r2' is no metric of y",
    ),
    (
        "a plateau of what the output of the metric lacks",
        watched("r2", TWO, validation_metric="roc_auc"),
        PLATEAU,
        "'r2' is no metric of y",
    ),
    (
        "a plateau of all outputs together",
        watched("accuracy", validation_field="combined"),
        PLATEAU,
        "expected one of loss",
    ),
    (
        "a plateau without evaluations",
        unevaluated(learning_rate_scheduler={"reduce_on_plateau": 2}),
        "trainer.learning_rate_scheduler.reduce_on_plateau",
        IDLE,
    ),
    ("an early stop without evaluations", unevaluated(early_stop=3), "trainer.early_stop", IDLE),
    ("batches of no evaluation", unevaluated(eval_steps=3), "trainer.eval_steps", IDLE),
    ("the size of no batch", unevaluated(eval_batch_size=3), "trainer.eval_batch_size", IDLE),
    (
        "training rows without evaluations",
        unevaluated(evaluate_training_set=True),
        "trainer.evaluate_training_set",
        IDLE,
    ),
    ("an output that selects no epoch", unevaluated(TWO, validation_field="y"), "trainer.validation_field", IDLE),
    *(
        (f"{name} without its decay", scheduled(decay=decay, **{name: value}), f"{SCHEDULE}.{name}", message)
        for name, value, decay, message in [
            ("decay_rate", 0.5, "linear", "acts only with decay exponential, and decay is linear"),
            ("decay_steps", 5, None, "acts only with decay exponential, and decay is null"),
            ("staircase", True, "cosine", "acts only with decay exponential, and decay is cosine"),
            ("t_0", 5, "exponential", "acts only with decay cosine, and decay is exponential"),
            ("t_mult", 2, "linear", "acts only with decay cosine, and decay is linear"),
            ("eta_min", 0.1, None, "acts only with decay cosine, and decay is null"),
        ]
    ),
    (
        "a cosine that rises",
        trainer(learning_rate=0.003, learning_rate_scheduler={"decay": "cosine", "eta_min": 0.5}),
        f"{SCHEDULE}.eta_min",
        "0.5 is above learning_rate 0.003",
    ),
    ("a metric that selects no epoch", unevaluated(validation_metric="accuracy"), "trainer.validation_metric", IDLE),
]


@pytest.mark.parametrize(("value", "path", "message"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_what_does_not_fit_together_is_reported_in_a_sentence(value: dict[str, Any], path: str, message: str) -> None:
    found = mistakes(value)
    assert list(found) == [path]
    assert message in found[path]


def test_all_options_of_evaluations_are_reported_at_once() -> None:
    found = mistakes(unevaluated(early_stop=3, validation_metric="accuracy", learning_rate_scheduler={"decay": "step"}))
    assert len(found) == 3


def test_both_metrics_are_reported_at_once() -> None:
    assert set(mistakes(watched("acuracy", validation_metric="roc"))) == {"trainer.validation_metric", PLATEAU}


@pytest.mark.parametrize(
    "value",
    [
        watched("loss"),
        watched("accuracy"),
        watched("r2", TWO),
        watched("recall", TWO, validation_metric="roc_auc"),
        watched("recall", TWO, validation_field="y"),
        watched("loss", TWO, validation_field="combined"),
        scheduled(decay="exponential", decay_rate=0.5, decay_steps=5, staircase=True),
        scheduled(decay="cosine", t_0=5, t_mult=2, eta_min=0.0001),
        scheduled(decay="linear", decay_rate=0.96, decay_steps=10000, staircase=False, t_0=None, t_mult=1, eta_min=0),
        trainer(learning_rate="auto", learning_rate_scheduler={"decay": "cosine", "eta_min": 0.5}),
        trainer(learning_rate=1, learning_rate_scheduler={"decay": "cosine", "eta_min": 1}),
        unevaluated(),
        unevaluated(early_stop=-1, eval_batch_size=0, learning_rate_scheduler=None),
        # As Ludwig fills them in.
        unevaluated(early_stop=5, eval_steps=None, evaluate_training_set=False, learning_rate_scheduler={}),
        unevaluated(TWO, validation_field="x", validation_metric="mean_squared_error"),
    ],
    ids=str,
)
def test_what_fits_together_is_valid(value: dict[str, Any]) -> None:
    ModelConfig.model_validate(value)
