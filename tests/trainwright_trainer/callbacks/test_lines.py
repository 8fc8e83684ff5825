from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from trainwright_trainer.callbacks.events import Evaluated
from trainwright_trainer.callbacks.lines import Readings, setting_items

Build = Callable[..., Any]
SCORES = {"combined": {"loss": 0.6}, "petal.kind": {"loss": 0.6, "accuracy": 0.81, "accuracy_micro": 0.75}}
ROUND = Evaluated(0, 10, 1.0, 100.0, 0.001, {"validation": SCORES}, best=True)


def test_the_start_names_the_metric_that_decides(started: Build) -> None:
    assert "best epoch by roc_auc" in setting_items(started())
    several = started(outputs={"late": "binary", "delay": "number"}, validation_metric="combined.loss")
    assert "best epoch by combined.loss" in setting_items(several)
    blind = setting_items(started(split_rows={"train": 100, "validation": 0, "test": 0}))
    assert not [item for item in [*blind, *setting_items(started(evaluates=False))] if "best" in item]
    assert "best epoch by roc_auc (the latest within 13 % of the best value)" in setting_items(started(tolerance=0.129))


def test_the_share_of_right_rows_stands_beside_the_mean_over_classes(started: Build) -> None:
    readings = Readings(started(outputs={"petal.kind": "category"}, validation_metric="petal.kind.accuracy"))
    assert [str(reading) for reading in readings.of(ROUND)] == [
        "validation loss 0.6000",
        "accuracy 0.8100 (best, epoch 1)",
        "accuracy_micro 0.7500",
    ]


def test_of_several_outputs_both_carry_the_name(started: Build) -> None:
    outputs = {"petal.kind": "category", "delay": "number"}
    readings = Readings(started(outputs=outputs, validation_metric="petal.kind.accuracy"))
    assert [reading.label for reading in readings.of(ROUND)][1:] == ["petal.kind.accuracy", "petal.kind.accuracy_micro"]


def test_each_output_has_its_own_metric(started: Build) -> None:
    outputs = {"petal.kind": "category", "delay": "number"}
    metrics = {"petal.kind": "accuracy", "delay": "mean_squared_error"}
    readings = Readings(started(outputs=outputs, metrics=metrics, validation_metric="petal.kind.accuracy"))
    scores = {**SCORES, "delay": {"loss": 0.1, "mean_squared_error": 3.5}}
    both = [readings.of(replace(ROUND, scores={"validation": scores})) for _ in range(2)]
    assert [str(one) for one in both[0]][-1] == "delay.mean_squared_error 3.500"
    worse = {**scores, "delay": {"loss": 0.1, "mean_squared_error": 4.0}}
    last = readings.of(replace(ROUND, scores={"validation": worse}))[-1]
    assert (str(last), last.better) == ("delay.mean_squared_error 4.000 ▲", False)
    alone = Readings(started(metrics={"late": "roc_auc"}, validation_metric="combined.loss"))
    assert [reading.label for reading in alone.of(ROUND)] == ["validation loss"]


def test_the_loss_of_the_only_output_stands_once(started: Build) -> None:
    readings = Readings(started(outputs={"petal.kind": "category"}, validation_metric="petal.kind.loss"))
    assert [str(reading) for reading in readings.of(ROUND)] == ["validation loss 0.6000 (best, epoch 1)"]


def test_the_loss_is_best_where_the_validation_rows_do_not_define_the_metric(started: Build) -> None:
    scores = {"combined": {"loss": 0.6}, "late": {"loss": 0.6, "accuracy": 1.0}}
    readings = Readings(started()).of(replace(ROUND, scores={"validation": scores}))
    assert [str(one) for one in readings] == ["validation loss 0.6000 (best, epoch 1)"]


def test_a_round_of_a_resumed_run_is_not_the_best_because_it_is_the_first(started: Build) -> None:
    before, scores = ({"combined": {"loss": 0.6}, "late": {"roc_auc": value}} for value in (0.75, 0.7))
    best = replace(ROUND, epoch=3, scores={"validation": before})
    readings = Readings(started(attempt=2, epoch=8, best=best))
    shown = [
        str(readings.of(replace(ROUND, epoch=epoch, best=epoch == 9, scores={"validation": scores}))[-1])
        for epoch in (8, 9)
    ]
    assert shown == ["roc_auc 0.7000 (best 0.7500, epoch 4)", "roc_auc 0.7000 (best, epoch 10)"]
