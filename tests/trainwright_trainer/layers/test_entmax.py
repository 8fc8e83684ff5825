"""Each function is compared with its definition: the sum is 1, and one threshold explains all values of a row."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from trainwright_trainer.layers.entmax import AdaptiveEntmax, entmax, entmax15, sparsemax

Function = Callable[[torch.Tensor], torch.Tensor]
CASES = [
    pytest.param(sparsemax, 2.0, id="sparsemax"),
    pytest.param(entmax15, 1.5, id="entmax15"),
    *(pytest.param(lambda z, a=a: entmax(z, a), a, id=f"entmax {a}") for a in (1.05, 1.3, 1.5, 1.9, 2.0)),
]


def scores(rows: int = 50, columns: int = 9, spread: float = 2.0) -> torch.Tensor:
    return torch.randn(rows, columns, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * spread


@pytest.mark.parametrize(("function", "alpha"), CASES)
@pytest.mark.parametrize("spread", [0.1, 2.0, 100.0])
def test_it_is_the_definition(function: Function, alpha: float, spread: float) -> None:
    given = scores(spread=spread)
    found = function(given)
    torch.testing.assert_close(found.sum(1), torch.ones(50, dtype=torch.float64))
    assert (found >= 0).all()
    scaled, inside = (alpha - 1) * given, found > 0
    thresholds = torch.where(inside, scaled - found ** (alpha - 1), torch.nan)
    threshold = thresholds.nanmean(1, keepdim=True)
    torch.testing.assert_close(thresholds[inside], threshold.expand_as(found)[inside], rtol=1e-9, atol=1e-6)
    assert (torch.where(inside, -torch.inf, scaled) <= threshold + 1e-6).all()


@pytest.mark.parametrize(("function", "alpha"), CASES)
def test_its_gradient_is_the_numerical_one(function: Function, alpha: float) -> None:
    given = scores(6, 5).requires_grad_()
    assert torch.autograd.gradcheck(function, (given,), atol=1e-5), alpha


def test_a_learnt_alpha_has_the_numerical_gradient() -> None:
    given, alpha = scores(6, 5).requires_grad_(), torch.tensor([1.4], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(entmax, (given, alpha), atol=1e-5)


def test_a_learnt_alpha_begins_where_it_is_told() -> None:
    layer = AdaptiveEntmax(1.3).double()
    torch.testing.assert_close(layer(scores()), entmax(scores(), 1.3), atol=1e-6, rtol=1e-6)
    layer(scores()).square().sum().backward()
    assert layer.log_odds.grad is not None
    assert layer.log_odds.grad.abs().item() > 0


@pytest.mark.parametrize("log_odds", [-100.0, 100.0])
def test_no_learnt_alpha_breaks_it(log_odds: float) -> None:
    layer = AdaptiveEntmax(1.5)
    torch.nn.init.constant_(layer.log_odds, log_odds)
    found = layer(scores().float())
    found.square().sum().backward()
    torch.testing.assert_close(found.sum(1), torch.ones(50))
    assert layer.log_odds.grad is not None
    assert layer.log_odds.grad.isfinite().all()


def test_alpha_1_is_softmax_and_2_is_sparsemax() -> None:
    torch.testing.assert_close(entmax(scores(), 1.0), torch.softmax(scores(), 1))
    torch.testing.assert_close(entmax(scores(), 1.01), torch.softmax(scores(), 1), atol=0.02, rtol=0)
    torch.testing.assert_close(entmax(scores(), 2.0), sparsemax(scores()))


def test_a_larger_alpha_leaves_fewer_columns() -> None:
    left = [int((entmax(scores(), alpha) > 1e-12).sum()) for alpha in (1.0, 1.3, 1.6, 2.0)]
    assert left == sorted(left, reverse=True)
    assert left[0] == 450
    assert left[-1] < 150


@pytest.mark.parametrize(("function", "alpha"), CASES)
def test_equal_scores_one_column_and_no_rows(function: Function, alpha: float) -> None:
    same = torch.zeros(2, 4, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(function(same), torch.full_like(same, 0.25))
    (function(same)[:, 0].sum()).backward()
    assert same.grad is not None
    assert same.grad.isfinite().all(), alpha
    assert function(torch.tensor([[7.0]])).tolist() == [[1.0]]
    assert function(torch.zeros(0, 4)).shape == (0, 4)
