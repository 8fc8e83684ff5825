from __future__ import annotations

import pytest
import torch

from trainwright_api.config.trainer import LearningRateScheduler
from trainwright_trainer.optim.schedules import LearningRateSchedule


def rates(total: int = 100, per_round: int = 10, **fields: object) -> list[float]:
    schedule = LearningRateSchedule(LearningRateScheduler.model_validate(fields), 0.1, total, per_round)
    return [schedule.rate(step) for step in range(total)]


def test_nothing_asked_for_is_a_constant():
    assert set(rates()) == {0.1}


def test_linear_decay_ends_at_zero():
    found = rates(decay="linear")
    assert found[0] == 0.1
    assert found[50] == pytest.approx(0.05)
    assert found[99] == pytest.approx(0.001)


def test_exponential_decay_multiplies_by_its_rate_in_its_steps():
    found = rates(decay="exponential", decay_rate=0.5, decay_steps=20)
    assert [found[step] for step in (0, 20, 40)] == pytest.approx([0.1, 0.05, 0.025])
    assert found[10] == pytest.approx(0.1 * 0.5**0.5)


def test_a_staircase_stands_still_between_its_steps():
    found = rates(decay="exponential", decay_rate=0.5, decay_steps=20, staircase=True)
    assert found[19] == found[0] == 0.1
    assert found[20] == found[39] == pytest.approx(0.05)


@pytest.mark.parametrize(("t_0", "t_mult", "eta_min"), [(7, 1, 0.0), (7, 2, 0.01), (None, 3, 0.0)])
def test_cosine_is_that_of_torch_with_warm_restarts(t_0, t_mult, eta_min):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
    theirs = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, t_0 or 10, t_mult, eta_min)
    expected = []
    for _ in range(100):
        expected.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        theirs.step()
    assert rates(decay="cosine", t_0=t_0, t_mult=t_mult, eta_min=eta_min) == pytest.approx(expected)


def test_warm_up_rises_from_zero_and_the_decay_counts_from_its_end():
    found = rates(decay="linear", warmup_fraction=0.2)
    assert found[:21] == pytest.approx([0.1 * step / 20 for step in range(21)])
    assert found[60] == pytest.approx(0.05)


def test_warm_up_in_evaluation_rounds():
    assert rates(warmup_evaluations=1.5)[:16] == pytest.approx([0.1 * step / 15 for step in range(16)])
