from __future__ import annotations

import math

import pytest

from trainwright_api.config import ModelConfig, resolve
from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.problems import Mistakes
from trainwright_trainer.loop.monitor import (
    MonitoredMetric,
    check_plateau,
    check_tells,
    monitored_metric,
    monitors_of,
    score_of,
)

OUTPUTS = {"late": "binary", "delay": "number"}


def of(**fields: object) -> MonitoredMetric:
    return monitored_metric(TrainerConfig.model_validate(fields), OUTPUTS)


@pytest.mark.parametrize(
    ("fields", "name", "direction"),
    [
        pytest.param({}, "late.roc_auc", "max", id="the first output's own"),
        pytest.param({"validation_field": "delay"}, "delay.mean_squared_error", "min", id="the field's own"),
        pytest.param({"validation_metric": "r2"}, "delay.r2", "max", id="the first output that has it"),
        pytest.param({"validation_field": "combined"}, "combined.loss", "min", id="all together"),
        pytest.param({"validation_field": "late", "validation_metric": "loss"}, "late.loss", "min", id="both"),
    ],
)
def test_which_metric_decides(fields, name, direction):
    found = of(**fields)
    assert (found.name, found.direction) == (name, direction)


def test_a_metric_that_is_the_same_for_every_model_cannot_decide():
    output = {"name": "kind", "type": "category", "top_k": 3}
    config = {
        "input_features": [{"name": "size", "type": "number"}],
        "output_features": [output],
        "trainer": {"validation_metric": "hits_at_k"},
    }
    found = resolve(ModelConfig.model_validate(config))
    check_tells(found, {"kind": {"vocabulary": ["a", "b", "c", "d"]}})
    with pytest.raises(Mistakes, match=r"output_features\[0\]\.top_k: with 3 classes .* set it to less than 3, or"):
        check_tells(found, {"kind": {"vocabulary": ["a", "b", "c"]}})
    check_tells(resolve(found.model_copy(update={"trainer": TrainerConfig()})), {"kind": {"vocabulary": ["a", "b"]}})


def test_a_plateau_is_not_measured_on_a_split_without_rows():
    """The metric would never improve, so the rate would fall in each round."""
    scheduler = {"reduce_on_plateau": 2, "reduce_eval_split": "validation"}
    rows = {"train": 80, "validation": 0, "test": 20}
    path = "config.trainer.learning_rate_scheduler.reduce_eval_split"
    with pytest.raises(Mistakes, match=f"^{path}: is validation, and there are no validation rows$"):
        check_plateau(TrainerConfig.model_validate({"learning_rate_scheduler": scheduler}), rows)
    for change in ({"reduce_on_plateau": 0}, {"reduce_eval_split": "training"}):
        check_plateau(TrainerConfig.model_validate({"learning_rate_scheduler": {**scheduler, **change}}), rows)


def test_unknown_names_are_mistakes_with_the_nearest():
    with pytest.raises(Mistakes, match=r"validation_field: 'lat' is no output feature.*did you mean 'late'"):
        of(validation_field="lat")
    with pytest.raises(Mistakes, match=r"validation_metric: 'accurracy' is no metric of 'late'.*'accuracy'"):
        of(validation_field="late", validation_metric="accurracy")
    trainer = {"learning_rate_scheduler": {"reduce_on_plateau": 1, "reduce_eval_metric": "r2"}}
    with pytest.raises(Mistakes, match=r"reduce_eval_metric: 'r2' is no metric of 'late'"):
        monitors_of(TrainerConfig.model_validate(trainer), OUTPUTS)


def test_a_nan_is_never_better_and_anything_beats_it():
    one = MonitoredMetric("late", "roc_auc", "max")
    assert one.better(0.5, math.nan)
    assert not one.better(math.nan, 0.5)
    assert not one.better(math.nan, math.nan)
    assert not one.better(0.5, 0.5)
    assert math.isnan(one.of({"late": {}}))


def test_the_score_of_a_checkpoint():
    scores = {"validation": {"combined": {"loss": 0.4}, "late": {"roc_auc": 0.7, "loss": math.nan}}}
    assert score_of("validation.loss", scores) == 0.4
    assert score_of("validation.late.roc_auc", scores) == 0.7
    assert score_of("validation.late.loss", scores) is None
    assert score_of("test.loss", scores) is None
    assert score_of("training.loss", {"train": {"combined": {"loss": 0.3}}}) == 0.3


def test_an_outputs_own_default_decides_where_the_trainer_names_no_metric():
    own = {"late": "accuracy", "delay": "r2"}
    assert monitored_metric(TrainerConfig(), OUTPUTS, own).name == "late.accuracy"
    assert monitored_metric(TrainerConfig(validation_field="delay"), OUTPUTS, own).name == "delay.r2"
    assert monitored_metric(TrainerConfig(validation_metric="loss"), OUTPUTS, own).name == "late.loss"
