from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from trainwright_trainer.metrics import base, binary
from trainwright_trainer.metrics.model import ModelMetrics

Make = Callable[..., ModelMetrics]
Feed = Callable[..., None]

LOGITS = torch.randn(40, generator=torch.Generator().manual_seed(0))
TARGETS = (torch.rand(40, generator=torch.Generator().manual_seed(1)) < 0.5).float()
LOSSES = torch.rand(40, dtype=torch.float64, generator=torch.Generator().manual_seed(2))


def batches(metrics: ModelMetrics, feed: Feed, start: int, stop: int) -> None:
    for i in range(start, stop):
        rows = slice(i * 4, i * 4 + 4)
        feed(metrics, LOGITS[rows], TARGETS[rows], LOSSES[rows])


@pytest.fixture
def folds_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "FOLDED_TOGETHER", 12)


@pytest.mark.usefixtures("folds_often")
@pytest.mark.parametrize("type_", ["binary", "number"])
@pytest.mark.parametrize("stop", range(11))
def test_a_state_that_went_through_a_checkpoint_goes_on_to_the_bit(
    make: Make, feed: Feed, type_: str, stop: int
) -> None:
    undisturbed, first, second = make(type_), make(type_), make(type_)
    batches(undisturbed, feed, 0, 10)
    batches(first, feed, 0, stop)
    second.load({name: tensor.clone() for name, tensor in first.tensors().items()})
    batches(second, feed, stop, 10)
    assert second.compute() == undisturbed.compute()
    assert {name: tensor.tolist() for name, tensor in second.tensors().items()} == {
        name: tensor.tolist() for name, tensor in undisturbed.tensors().items()
    }


@pytest.mark.usefixtures("folds_often")
def test_to_compute_changes_nothing(make: Make, feed: Feed) -> None:
    asked, silent = make("number"), make("number")
    for i in range(10):
        batches(asked, feed, i, i + 1)
        batches(silent, feed, i, i + 1)
        assert asked.compute() == asked.compute()
    assert asked.compute() == silent.compute()
    assert asked.tensors().keys() == silent.tensors().keys()


def test_a_checkpoint_is_not_changed_by_later_rows(make: Make, feed: Feed) -> None:
    metrics = make("binary")
    batches(metrics, feed, 0, 2)
    held = metrics.tensors()
    before = {name: tensor.clone() for name, tensor in held.items()}
    batches(metrics, feed, 2, 10)
    metrics.compute()
    for name, tensor in held.items():
        assert torch.equal(tensor, before[name])


def test_reset_forgets(make: Make, feed: Feed) -> None:
    metrics = make("binary")
    batches(metrics, feed, 0, 10)
    metrics.reset()
    assert metrics.compute() == {}
    assert metrics.tensors() == {}
    batches(metrics, feed, 0, 1)
    assert metrics.compute()["y"]["loss"] == pytest.approx(LOSSES[:4].mean().item())


def test_targets_do_not_keep_their_batch(make: Make, feed: Feed) -> None:
    metrics = make("number")
    batch = TARGETS.clone()
    feed(metrics, LOGITS, batch)
    batch.fill_(0)
    other = make("number")
    feed(other, LOGITS, TARGETS)
    assert metrics.compute() == other.compute()


def test_half_precision_is_measured(make: Make, feed: Feed) -> None:
    metrics = make("binary")
    feed(metrics, LOGITS.bfloat16(), TARGETS)
    assert 0 < metrics.compute()["y"]["roc_auc"] < 1


def test_the_loss_of_a_root_is_the_root_over_all_rows(make: Make, feed: Feed) -> None:
    metrics = make("number", loss="root_mean_squared_error")
    feed(metrics, LOGITS[:2], TARGETS[:2], torch.tensor([1.0, 9.0]))
    feed(metrics, LOGITS[:1], TARGETS[:1], torch.tensor([2.0]))
    assert metrics.compute()["y"]["loss"] == 2.0


def test_the_combined_loss_is_weighted(make: Make, feed: Feed) -> None:
    metrics = make("number", loss={"type": "mean_squared_error", "weight": 0.5})
    feed(metrics, LOGITS[:2], TARGETS[:2], torch.tensor([1.0, 3.0]))
    found = metrics.compute()
    assert found["y"]["loss"] == 2.0
    assert found["combined"] == {"loss": 1.0}


@pytest.mark.parametrize("type_", ["binary", "number"])
def test_a_rank_without_rows_changes_nothing(make: Make, feed: Feed, type_: str) -> None:
    metrics = make(type_)
    batches(metrics, feed, 0, 2)
    before = metrics.compute()
    metrics.add(make(type_).tensors())
    assert metrics.compute() == before


@pytest.fixture
def keeps_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binary, "MOST_KEPT", 10)


@pytest.mark.usefixtures("folds_often", "keeps_few")
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_a_running_state_has_a_bound_and_the_same_scores_for_any_ranks(make: Make, feed: Feed, ranks: int) -> None:
    whole, merged = make("binary", running=True), make("binary", running=True)
    batches(whole, feed, 0, 10)
    for rank in range(ranks):
        part = make("binary", running=True)
        batches(part, feed, 10 * rank // ranks, 10 * (rank + 1) // ranks)
        merged.add(part.tensors())
    assert merged.compute()["y"]["roc_auc"] == whole.compute()["y"]["roc_auc"]
    assert not any(name.startswith("y.kept") for name in merged.tensors())
    exact = make("binary")
    batches(exact, feed, 0, 10)
    assert whole.compute()["y"]["roc_auc"] == pytest.approx(exact.compute()["y"]["roc_auc"], abs=1e-3)


@pytest.mark.usefixtures("folds_often", "keeps_few")
@pytest.mark.parametrize("stop", range(11))
def test_a_histogram_goes_through_a_checkpoint(make: Make, feed: Feed, stop: int) -> None:
    undisturbed, first, second = (make("binary", running=True) for _ in range(3))
    batches(undisturbed, feed, 0, 10)
    batches(first, feed, 0, stop)
    second.load({name: tensor.clone() for name, tensor in first.tensors().items()})
    batches(second, feed, stop, 10)
    assert second.compute() == undisturbed.compute()
