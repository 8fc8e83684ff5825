from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from trainwright_api.config import losses as configs
from trainwright_trainer.losses import LOSSES, Loss
from trainwright_trainer.losses.difference import root

GENERATOR = torch.Generator().manual_seed(0)
LOGITS = torch.randn(9, dtype=torch.float64, generator=GENERATOR)
TARGETS = torch.randn(9, dtype=torch.float64, generator=GENERATOR)


def loss(config: configs.Loss) -> Loss:
    return LOSSES[config.type](config, [], "")  # type: ignore[attr-defined]


def total(config: configs.Loss, logits: torch.Tensor = LOGITS, targets: torch.Tensor = TARGETS) -> torch.Tensor:
    built = loss(config)
    rows = built.rows(logits, targets)
    assert rows.shape == (len(logits),)
    return built.finish(rows.mean())


def test_each_is_what_its_name_says() -> None:
    error = LOGITS - TARGETS
    expected = {
        configs.MeanSquaredError(): error.square().mean(),
        configs.MeanAbsoluteError(): error.abs().mean(),
        configs.MeanAbsolutePercentageError(): (error / TARGETS).abs().mean(),
        configs.RootMeanSquaredError(): error.square().mean().sqrt(),
        configs.RootMeanSquaredPercentageError(): (error / TARGETS).square().mean().sqrt(),
        configs.Huber(delta=0.3): F.huber_loss(LOGITS, TARGETS, delta=0.3),
    }
    for config, value in expected.items():
        torch.testing.assert_close(total(config), value)


def test_percentages_of_a_zero_are_large_but_finite() -> None:
    logits, targets = torch.ones(1), torch.zeros(1)
    assert total(configs.MeanAbsolutePercentageError(), logits, targets).item() == pytest.approx(1 / 1.17e-6)
    assert total(configs.RootMeanSquaredPercentageError(), logits, targets).item() == pytest.approx(1e4)


def test_a_vectors_row_is_the_mean_over_its_values() -> None:
    logits, targets = LOGITS.reshape(3, 3), TARGETS.reshape(3, 3)
    for config in (configs.MeanSquaredError(), configs.RootMeanSquaredError(), configs.Huber(delta=0.1)):
        torch.testing.assert_close(total(config, logits, targets), total(config))


def test_rows_do_not_depend_on_how_a_batch_is_cut() -> None:
    built = loss(configs.RootMeanSquaredPercentageError())
    parts = [built.rows(LOGITS[part], TARGETS[part]) for part in (slice(0, 2), slice(2, 9))]
    assert torch.equal(torch.cat(parts), built.rows(LOGITS, TARGETS))


def test_a_root_has_a_finite_slope_at_zero() -> None:
    mean = torch.zeros((), requires_grad=True)
    root(mean).backward()
    assert mean.grad is not None
    assert mean.grad.isfinite()
    at_four = torch.tensor(4.0, requires_grad=True)
    root(at_four).backward()
    assert at_four.grad == 0.25


def test_the_weight_is_kept_for_the_total() -> None:
    assert loss(configs.MeanSquaredError(weight=0.5)).weight == 0.5


@pytest.mark.parametrize(
    ("config", "unit"),
    [
        (configs.MeanSquaredError(), 9.0),
        (configs.MeanAbsoluteError(), 3.0),
        (configs.RootMeanSquaredError(), 3.0),
        (configs.MeanAbsolutePercentageError(), 1.0),
        (configs.RootMeanSquaredPercentageError(), 1.0),
        (configs.Huber(delta=0.5), 1.5),
        (configs.Huber(delta=100.0), 4.5),
    ],
)
def test_the_unit_is_about_the_loss_of_always_saying_the_mean(config: configs.Loss, unit: float) -> None:
    loss = LOSSES[config.model_dump()["type"]](config, [], "")
    assert loss.unit(3.0) == unit
    assert loss.unit(None) == 1.0
