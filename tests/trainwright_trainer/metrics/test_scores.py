"""Metrics in edge cases: one class, one row, equal scores."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from trainwright_api.config.metric_names import METRICS
from trainwright_trainer.metrics.model import TYPES, ModelMetrics

Make = Callable[..., ModelMetrics]
Feed = Callable[..., None]


@pytest.mark.parametrize("type_", sorted(TYPES))
def test_the_names_are_the_contracts(make: Make, feed: Feed, type_: str) -> None:
    if type_ in ("sequence", "text"):
        metrics = make(type_)
        feed(metrics, torch.zeros(2, 2, 3), torch.tensor([[0, 1], [2, -1]]))
        assert set(metrics.compute()["y"]) == set(METRICS[type_])
        return
    logits = {"category": torch.eye(4)[:3], "vector": torch.eye(3), "set": torch.eye(3)}.get(
        type_, torch.tensor([0.5, -1, 2])
    )
    targets = {"category": torch.tensor([0, 1, 3]), "vector": torch.eye(3) * 2, "set": torch.eye(3)}.get(
        type_, torch.tensor([1.0, 0, 1])
    )
    metrics = make(type_)
    feed(metrics, logits, targets)
    assert set(metrics.compute()["y"]) == set(METRICS[type_])


def test_one_class_has_no_area_and_shares_of_nothing_are_zero(make: Make, feed: Feed) -> None:
    metrics = make("binary")
    feed(metrics, torch.tensor([-1.0, -2.0]), torch.tensor([0.0, 0.0]))
    found = metrics.compute()["y"]
    assert "roc_auc" not in found
    assert (found["accuracy"], found["precision"], found["recall"], found["specificity"]) == (1, 0, 0, 1)


@pytest.mark.parametrize("type_", ["number", "vector"])
def test_targets_that_do_not_vary_have_no_r2(make: Make, feed: Feed, type_: str) -> None:
    width = (3,) if type_ == "vector" else ()
    for rows, value in ((1, 1.0), (2, 1.0), (300, 8.4265), (300, -0.1)):
        metrics = make(type_)
        feed(metrics, torch.zeros(rows, *width), torch.full((rows, *width), value))
        assert "r2" not in metrics.compute()["y"]


def test_of_equal_scores_the_lower_class_comes_first(make: Make, feed: Feed) -> None:
    metrics = make("category", top_k=2)
    feed(metrics, torch.zeros(4, 4), torch.arange(4))
    found = metrics.compute()["y"]
    assert (found["accuracy_micro"], found["hits_at_k"]) == (0.25, 0.5)


def test_predictions_are_judged_clipped_and_in_their_own_units(make: Make, feed: Feed) -> None:
    metrics = make("number", clip=[0.0, 8.0])
    # The predictions are 13, clipped to 8, and 5; the targets are 7 and 5.
    feed(metrics, torch.tensor([4.0, 0.0]), torch.tensor([1.0, 0.0]))
    assert metrics.compute()["y"]["mean_absolute_error"] == 0.5


def test_the_squared_percentage_of_a_zero_is_finite(make: Make, feed: Feed) -> None:
    metrics = make("number", statistics={"shift": 0.0, "scale": 1.0})
    feed(metrics, torch.tensor([1.0]), torch.tensor([0.0]))
    assert metrics.compute()["y"]["root_mean_squared_percentage_error"] == pytest.approx(1e4)


def test_the_softmax_of_a_vector_is_judged(make: Make, feed: Feed) -> None:
    metrics = make("vector", softmax=True, loss={"type": "softmax_cross_entropy"})
    feed(metrics, torch.zeros(1, 3), torch.full((1, 3), 1 / 3))
    assert metrics.compute()["y"]["mean_absolute_error"] == pytest.approx(0, abs=1e-7)
