from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from trainwright_trainer.metrics.figures import figures_of
from trainwright_trainer.metrics.model import ModelMetrics
from trainwright_trainer.report.data import ConfusionMatrix, OutputFigures, TokenCounts

Make = Callable[..., ModelMetrics]
Feed = Callable[..., None]


def drawn(metrics: ModelMetrics) -> OutputFigures:
    (found,) = figures_of(metrics)
    assert (found.name, found.scores) == ("y", metrics.compute()["y"])
    return found


def test_no_rows_are_no_figures(make: Make) -> None:
    assert figures_of(make("binary", figures=True)) == []


def test_a_binary(make: Make, feed: Feed) -> None:
    metrics = make("binary", figures=True)
    feed(metrics, torch.logit(torch.tensor([0.95, 0.62, 0.68, 0.12])), torch.tensor([1.0, 0, 1, 0]))
    found = drawn(metrics)
    assert found.confusion is not None
    assert found.confusion.labels == ["no", "yes"]
    assert found.confusion.counts == [[1, 1], [0, 2]]
    assert found.calibration is not None
    assert found.calibration.predicted == pytest.approx([0.12, 0.65, 0.95])
    assert found.calibration.observed == [0, 0.5, 1]
    assert found.calibration.rows == [1, 2, 1]
    assert found.roc is not None
    assert (found.roc.false_positive_rate, found.roc.true_positive_rate) == ([0, 0, 0, 0.5, 1], [0, 0.5, 1, 1, 1])
    assert found.roc.auc == 1
    assert found.baselines == {"always the most frequent class": {"accuracy": 0.5, "roc_auc": 0.5}}


def test_a_long_curve_is_thinned_and_keeps_its_ends(make: Make, feed: Feed) -> None:
    metrics = make("binary", figures=True)
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(5000, generator=generator)
    feed(metrics, logits, (torch.rand(5000, generator=generator) < torch.sigmoid(2 * logits)).float())
    roc = drawn(metrics).roc
    assert roc is not None
    across, up = np.array(roc.false_positive_rate), np.array(roc.true_positive_rate)
    assert 100 < len(across) <= 200
    assert (across[0], up[0], across[-1], up[-1]) == (0, 0, 1, 1)
    assert np.trapezoid(up, across) == pytest.approx(roc.auc, abs=1e-3)


def test_one_class_has_no_curve(make: Make, feed: Feed) -> None:
    metrics = make("binary", figures=True)
    feed(metrics, torch.zeros(2), torch.zeros(2))
    assert drawn(metrics).roc is None


def test_a_category(make: Make, feed: Feed) -> None:
    metrics = make("category", figures=True, top_k=2)
    sure = torch.log(torch.tensor([[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.1, 0.7]]))
    feed(metrics, sure, torch.tensor([0, 2, 3]))
    found = drawn(metrics)
    assert found.confusion is not None
    assert found.confusion.labels == ["x", "y", "z", "w"]
    assert found.confusion.counts == [[1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
    assert found.calibration is not None
    assert found.calibration.predicted == pytest.approx([0.7])
    assert found.calibration.observed == pytest.approx([2 / 3])
    baseline = found.baselines["always the most frequent class"]
    assert baseline == pytest.approx({"accuracy": 1 / 3, "accuracy_micro": 1 / 3, "hits_at_k": 1 / 3})
    assert found.note.endswith("among the 2 likeliest")


def test_a_set(make: Make, feed: Feed) -> None:
    metrics = make("set", figures=True)
    logits = torch.tensor([[-3.0, 3.0, 3.0], [-3.0, -3.0, 3.0], [-3.0, -3.0, -3.0]])
    feed(metrics, logits, torch.tensor([[0.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]))
    found = drawn(metrics)
    assert found.scores["jaccard"] == pytest.approx((0.5 + 0.5 + 1) / 3)
    assert found.baselines == {"always the most frequent token": {"jaccard": pytest.approx(0.5 / 3)}}
    assert found.tokens == TokenCounts(["a", "b", "rare values"], [2, 1, 0], [1, 2, 0], [1, 1, 0])
    assert found.calibration is not None
    assert found.calibration.rows == [6, 3]


def test_a_tagged_sequence(make: Make, feed: Feed) -> None:
    metrics = make("sequence", figures=True)
    feed(metrics, torch.eye(3)[torch.tensor([[1, 2], [2, 0]])], torch.tensor([[1, 2], [1, -1]]))
    found = drawn(metrics)
    assert found.confusion == ConfusionMatrix(["rare values", "a", "b"], [[0, 0, 0], [0, 1, 1], [0, 0, 1]], 1, "token")
    assert found.baselines == {"always the most frequent token": {"token_accuracy": pytest.approx(1 / 3)}}


@pytest.mark.parametrize("decoder", ["tagger", "generator"])
def test_the_note_says_how_a_generator_is_judged(make: Make, feed: Feed, decoder: str) -> None:
    metrics = make("sequence", figures=True, decoder=decoder)
    steps = [[1, 2, 3]] if decoder == "generator" else [[1, 2]]  # 3 is the end
    feed(metrics, torch.eye(4)[torch.tensor(steps)], torch.tensor([[1, 2]]))
    assert ("with the true tokens before it" in drawn(metrics).note) == (decoder == "generator")


def test_no_class_is_left_to_be_outside_of_top_k(make: Make, feed: Feed) -> None:
    metrics = make("category", figures=True, top_k=4)
    feed(metrics, torch.eye(4), torch.arange(4))
    found = drawn(metrics)
    assert set(found.scores) == {"loss", "accuracy", "accuracy_micro"}
    assert "hits_at_k" not in found.note


def test_the_place_of_unknown_values_is_no_class_of_that_name(make: Make, feed: Feed) -> None:
    metrics = make("category", figures=True, statistics={"vocabulary": ["<UNK>", "a", "b"], "counts": [2, 3, 4]})
    feed(metrics, torch.eye(3), torch.arange(3))
    confusion = drawn(metrics).confusion
    assert confusion is not None
    assert confusion.labels == ["rare values", "a", "b"]


def test_the_rarest_classes_share_a_place(make: Make, feed: Feed) -> None:
    counts = list(range(40, 0, -1))
    counts[5] = 0
    statistics = {"vocabulary": [f"k{i}" for i in range(40)], "counts": counts}
    metrics = make("category", figures=True, statistics=statistics)
    feed(metrics, torch.eye(40), torch.arange(40))
    confusion = drawn(metrics).confusion
    assert confusion is not None
    assert confusion.labels == [*(f"k{i}" for i in range(30) if i != 5), "11 others"]
    assert confusion.in_last == 11
    assert np.trace(confusion.counts) == 40
    assert confusion.counts[29][29] == 11


def test_without_figures_a_category_counts_no_more_than_its_metrics_need(make: Make, feed: Feed) -> None:
    metrics = make("category")
    feed(metrics, torch.eye(4), torch.arange(4))
    assert "confusion" not in metrics.outputs["y"].folded().sums()


def test_a_number(make: Make, feed: Feed) -> None:
    metrics = make("number", figures=True)
    targets = torch.linspace(-1, 1, 1001)
    feed(metrics, targets, targets)
    found = drawn(metrics)
    assert found.predicted_against_true is not None
    counts = np.array(found.predicted_against_true.counts)
    assert counts.shape == (30, 30)
    assert np.trace(counts) == counts.sum() == 1001
    assert found.predicted_against_true.edges[0] == pytest.approx(3.02)
    assert found.predicted_against_true.edges[-1] == pytest.approx(6.98)
    baseline = found.baselines["always the mean"]
    assert baseline["mean_absolute_error"] == pytest.approx(1.0, rel=1e-2)
    assert baseline["root_mean_squared_error"] == pytest.approx(2 / 3**0.5, rel=1e-2)


def test_equal_targets_are_drawn_too(make: Make, feed: Feed) -> None:
    metrics = make("number", figures=True)
    feed(metrics, torch.tensor([0.0, 50.0]), torch.zeros(2))
    figure = drawn(metrics).predicted_against_true
    assert figure is not None
    assert np.sum(figure.counts) == 2
    assert (figure.edges[0], figure.edges[-1]) == (4.5, 5.5)


def test_a_vector_has_a_baseline_alone(make: Make, feed: Feed) -> None:
    metrics = make("vector", figures=True)
    feed(metrics, torch.zeros(2, 3), torch.tensor([[0.5, 0, -0.5], [1.5, 0, -0.5]]))
    found = drawn(metrics)
    assert found.baselines["always the mean"]["mean_squared_error"] == pytest.approx(1 / 6)
    assert found.confusion is found.roc is found.predicted_against_true is None
