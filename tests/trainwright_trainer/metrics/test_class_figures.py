"""The figures of classes have the numbers of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    precision_recall_curve,
    precision_recall_fscore_support,
    precision_score,
    recall_score,
    roc_auc_score,
)

from trainwright_trainer.metrics.class_figures import MOST_POINTS, precision_recall, thresholds_of
from trainwright_trainer.metrics.figures import figures_of
from trainwright_trainer.metrics.model import ModelMetrics
from trainwright_trainer.report.data import OutputFigures

Make = Callable[..., ModelMetrics]
Feed = Callable[..., None]
ROWS = 700


def drawn(metrics: ModelMetrics) -> OutputFigures:
    (found,) = figures_of(metrics)
    return found


@pytest.fixture
def scores() -> np.ndarray:
    return np.round(np.random.default_rng(0).normal(size=ROWS), 2)


@pytest.fixture
def positive(scores: np.ndarray) -> np.ndarray:
    return np.random.default_rng(1).random(ROWS) < 1 / (1 + np.exp(-2 * scores))


def test_the_scores_of_both_classes_of_a_binary(
    make: Make, feed: Feed, scores: np.ndarray, positive: np.ndarray
) -> None:
    metrics = make("binary", figures=True, threshold=0.4)
    feed(metrics, torch.from_numpy(scores), torch.from_numpy(positive).double())
    by_label = {one.label: one for one in drawn(metrics).classes}
    predicted = 1 / (1 + np.exp(-scores)) >= 0.4
    expected = precision_recall_fscore_support(positive, predicted)
    for place, label in enumerate(("no", "yes")):
        one = by_label[label]
        assert (one.precision, one.recall, one.f1, one.support) == pytest.approx([column[place] for column in expected])


def test_the_scores_of_each_class_of_a_category(make: Make, feed: Feed) -> None:
    metrics = make("category", figures=True)
    generator = torch.Generator().manual_seed(0)
    logits, targets = torch.randn(ROWS, 4, generator=generator), torch.randint(0, 3, (ROWS,), generator=generator)
    feed(metrics, logits, targets)
    found = drawn(metrics).classes
    expected = precision_recall_fscore_support(targets, logits.argmax(1), labels=range(4), zero_division=0)
    assert [one.support for one in found] == sorted(expected[3], reverse=True)
    for one in found:
        place = "xyzw".index(one.label)
        assert (one.precision, one.recall, one.f1) == pytest.approx([column[place] for column in expected[:3]])


def test_a_class_that_neither_occurs_nor_is_predicted_is_left_out(make: Make, feed: Feed) -> None:
    metrics = make("category", figures=True)
    feed(metrics, torch.eye(4)[:2], torch.tensor([0, 1]))
    assert [one.label for one in drawn(metrics).classes] == ["x", "y"]


def test_precision_over_recall(scores: np.ndarray, positive: np.ndarray) -> None:
    some = slice(0, 150)
    found = precision_recall(scores[some], positive[some])
    precision, recall, _ = precision_recall_curve(positive[some], scores[some])
    assert found.recall == pytest.approx(recall[::-1])
    assert found.precision == pytest.approx(precision[::-1])
    assert found.average_precision == pytest.approx(average_precision_score(positive[some], scores[some]))
    assert found.positive == np.mean(positive[some])


def test_a_long_curve_is_thinned_and_its_average_is_exact() -> None:
    generator = np.random.default_rng(2)
    scores = generator.normal(size=5000)
    positive = generator.random(5000) < 1 / (1 + np.exp(-scores))
    found = precision_recall(scores, positive)
    assert MOST_POINTS / 2 < len(found.recall) <= MOST_POINTS
    assert (found.recall[0], found.recall[-1]) == (0, 1)
    assert found.average_precision == pytest.approx(average_precision_score(positive, scores))


def test_each_threshold(scores: np.ndarray, positive: np.ndarray) -> None:
    probabilities = 1 / (1 + np.exp(-scores))
    found = thresholds_of(probabilities, positive, 0.5)
    assert len(found.thresholds) == 101
    for at in (0, 30, 50, 77, 100):
        above = probabilities >= found.thresholds[at]
        assert found.precision[at] == pytest.approx(precision_score(positive, above, zero_division=0))
        assert found.recall[at] == pytest.approx(recall_score(positive, above))
        assert found.f1[at] == pytest.approx(f1_score(positive, above))


@pytest.mark.parametrize("scale", [0.003, 1.0, 60.0], ids=["of a new model", "of a trained one", "very sure"])
def test_the_area_of_each_class_against_all_others(make: Make, feed: Feed, scale: float) -> None:
    """A new model begins with the log-odds of the classes' shares."""
    metrics = make("category", figures=True)
    generator = torch.Generator().manual_seed(3)
    targets = torch.randint(0, 3, (ROWS,), generator=generator)
    told = torch.randn(ROWS, 4, generator=generator) + 2 * torch.nn.functional.one_hot(targets, 4)
    logits = torch.log(torch.tensor([5.0, 4.0, 3.0, 2.0])) + scale * told.double()
    for part in (slice(0, 100), slice(100, ROWS)):
        feed(metrics, logits[part], targets[part])
    others = torch.stack([torch.cat([logits[:, :one], logits[:, one + 1 :]], 1).logsumexp(1) for one in range(4)], 1)
    odds = (logits - others).numpy()
    rocs = drawn(metrics).class_rocs
    assert [one.label for one in rocs] == ["x", "y", "z"]  # no row is of class w
    for place, one in enumerate(rocs):
        exact = roc_auc_score(targets.numpy() == place, odds[:, place])
        assert one.curve.auc == pytest.approx(exact, abs=1e-3)
        drawn_area = np.trapezoid(one.curve.true_positive_rate, one.curve.false_positive_rate)
        assert drawn_area == pytest.approx(exact, abs=5e-3)


def test_certain_predictions_are_in_the_outermost_bins(make: Make, feed: Feed) -> None:
    metrics = make("category", figures=True)
    feed(metrics, 500 * torch.eye(4)[:2].double(), torch.tensor([0, 1]))
    assert [one.curve.auc for one in drawn(metrics).class_rocs] == [1, 1]
