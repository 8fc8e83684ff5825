from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from trainwright_api.config.trainer import LearningRateScheduler
from trainwright_trainer.optim.plateau import Plateau


def plateau(**fields: object) -> Plateau:
    return Plateau(LearningRateScheduler.model_validate({"reduce_on_plateau": 2, **fields}))


def test_the_rate_falls_after_more_rounds_than_patience_has():
    one = plateau(reduce_on_plateau_patience=1, reduce_on_plateau_rate=0.5)
    factors = []
    for value in (1.0, 1.0, 1.0, 0.9, 0.9, 0.9, 0.9, 0.9):
        one.observe(value, "min")
        factors.append(one.factor)
    assert factors == [1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25]


@pytest.mark.parametrize("direction", ["min", "max"])
def test_plateaus_are_those_of_torch(direction):
    values = np.random.default_rng(3).normal(1, 0.3, 60).tolist()
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    theirs = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, direction, factor=0.5, patience=3)
    one = plateau(reduce_on_plateau=50, reduce_on_plateau_patience=3, reduce_on_plateau_rate=0.5)
    for value in values:
        theirs.step(value)
        one.observe(value, direction)
        assert one.factor == pytest.approx(optimizer.param_groups[0]["lr"])
    assert one.factor < 0.1


@pytest.mark.parametrize("value", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("direction", ["min", "max"])
def test_an_equal_value_is_not_better(direction, value):
    one = plateau(reduce_on_plateau_patience=0)
    for _ in range(3):
        one.observe(value, direction)
    assert one.factor == pytest.approx(0.01)


def test_a_nan_is_never_better():
    one = plateau(reduce_on_plateau_patience=0)
    for value in (1.0, math.nan):
        one.observe(value, "min")
    assert one.factor == pytest.approx(0.1)


def test_without_reduce_on_plateau_nothing_happens():
    one = plateau(reduce_on_plateau=0, reduce_on_plateau_patience=0)
    for _ in range(5):
        one.observe(1.0, "min")
    assert one.factor == 1.0


def test_its_state_is_all_it_knows():
    one, other = plateau(reduce_on_plateau_patience=2), plateau(reduce_on_plateau_patience=2)
    for value in (1.0, 1.0, 1.0):
        one.observe(value, "min")
    other.load(one.state())
    one.observe(1.0, "min")
    other.observe(1.0, "min")
    assert one.factor == other.factor == pytest.approx(0.1)
