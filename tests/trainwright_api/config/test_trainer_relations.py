"""Relations between the fields of the trainer section, and between them and the outputs."""

from __future__ import annotations

from typing import Any

import pytest
from tests.trainwright_api.config.test_relations import config, mistakes

from trainwright_api.config import ModelConfig

TWO = [("x", "number"), ("y", "binary")]
PLATEAU = "trainer.learning_rate_scheduler.reduce_eval_metric"


def trainer(outputs: list[Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A small config with these fields of the trainer section."""
    return config(outputs=outputs, trainer=fields)


def scheduled(**fields: Any) -> dict[str, Any]:
    """A small config with these fields of the schedule."""
    return trainer(learning_rate_scheduler=fields)


def watched(metric: str, outputs: list[Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A small config with a metric that is monitored for a plateau."""
    return trainer(outputs, learning_rate_scheduler={"reduce_eval_metric": metric}, **fields)


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
]


@pytest.mark.parametrize(("value", "path", "message"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_what_does_not_fit_together_is_reported_in_a_sentence(value: dict[str, Any], path: str, message: str) -> None:
    found = mistakes(value)
    assert list(found) == [path]
    assert message in found[path]


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
    ],
    ids=str,
)
def test_what_fits_together_is_valid(value: dict[str, Any]) -> None:
    ModelConfig.model_validate(value)
