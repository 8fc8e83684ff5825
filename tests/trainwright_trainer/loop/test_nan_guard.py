from __future__ import annotations

import math

import pytest
import torch

from trainwright_trainer.loop import nan_guard
from trainwright_trainer.loop.nan_guard import LossesOfSteps

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def keeps_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nan_guard, "_KEPT", 4)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("at", [8, 9, 11, 12, 13, 17])
def test_the_first_bad_step_is_found(bad: float, at: int) -> None:
    """The run begins at a step after the first, as after a resume."""
    losses = LossesOfSteps(CPU)
    for step in range(8, 18):
        losses.add(torch.tensor(bad if step in (at, at + 3) else 1.0), step)
    assert losses.first_not_finite() == at


@pytest.mark.parametrize("asks_after", [1, 4, 5])
def test_a_question_in_between_changes_nothing(asks_after: int) -> None:
    losses = LossesOfSteps(CPU)
    for step in range(1, 12):
        losses.add(torch.tensor(math.nan if step == 7 else 1.0, dtype=torch.bfloat16), step)
        if step % asks_after == 0:
            assert losses.first_not_finite() == (7 if step >= 7 else None)


def test_finite_losses_are_fine() -> None:
    losses = LossesOfSteps(CPU)
    assert losses.first_not_finite() is None
    for step in range(1, 10):
        losses.add(torch.tensor(1e300, dtype=torch.float64), step)
    assert losses.first_not_finite() is None
