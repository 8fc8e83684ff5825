from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trainwright_trainer.callbacks.decisive import UndefinedMetric, decisive
from trainwright_trainer.callbacks.events import Evaluated

Build = Callable[..., Any]


@pytest.mark.parametrize(
    ("scores", "found"),
    [
        pytest.param({"late": {"loss": 0.6, "roc_auc": 0.7}}, "late.roc_auc", id="defined"),
        pytest.param({"late": {"loss": 0.6}}, "late.loss", id="one class"),
        pytest.param({}, "late.roc_auc", id="no rows"),
    ],
)
def test_the_loss_decides_in_place_of_a_metric_without_a_value(scores: Any, found: str) -> None:
    assert decisive("late.roc_auc", scores) == found


def test_it_is_said_once(started: Build) -> None:
    lines: list[str] = []
    listener = UndefinedMetric(lines.append)
    listener.on_event(started())
    for epoch in range(2):
        scores = {"combined": {"loss": 0.6}, "late": {"loss": 0.6}}
        listener.on_event(Evaluated(epoch, 10, 1.0, 100.0, 0.001, {"validation": scores}, best=True))
    assert lines == ["roc_auc has no value on these validation rows: validation loss decides which epoch is best"]
