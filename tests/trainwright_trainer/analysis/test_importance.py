from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.inspection import permutation_importance

from trainwright_trainer.analysis.deadline import Deadline
from trainwright_trainer.analysis.importance import _of_rows, importances
from trainwright_trainer.analysis.subject import Subject
from trainwright_trainer.data.prepared import VALIDATION
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.report.data import Importances

METRICS = {"y": "roc_auc", "z": "mean_absolute_error"}


def found(subject: Subject) -> Importances:
    result = importances(subject, VALIDATION, "validation", METRICS, Deadline(600))
    assert result is not None
    return result


def test_inputs_that_matter_come_first(subject: Subject) -> None:
    for one in found(subject).outputs:
        names = [each.feature for each in one.features]
        assert names[0] == "x"
        by_name = {each.feature: each for each in one.features}
        assert by_name["x"].low > 0
        assert by_name["x"].rise > 5 * abs(by_name["noise"].rise)
        assert by_name["noise"].low < 0.05 * one.loss
        assert one.metric == METRICS[one.output]
        worse = by_name["x"].score - one.score
        assert worse < -0.1 if one.metric == "roc_auc" else worse > 1


def test_the_result_follows_from_the_seed(subject: Subject) -> None:
    assert found(subject) == found(subject)
    assert found(subject) != found(replace(subject, seed=1))


def test_the_rise_is_that_of_scikit_learn(subject: Subject) -> None:
    """The same loss under other permutations: the means agree within their spread."""
    batch = subject.sample(VALIDATION, 2000)
    assert batch is not None
    ours = {one.feature: one for each in found(subject).outputs if each.output == "z" for one in each.features}
    oracle = permutation_importance(Wrapped(subject, batch), batch.floats[:, :2].numpy(), None, n_repeats=20)
    for name, mean, spread in zip(("x", "noise"), oracle.importances_mean, oracle.importances_std, strict=True):
        assert ours[name].rise == pytest.approx(mean, abs=4 * spread + 1e-6)


class Wrapped:
    """The model for scikit-learn: the score of its first two columns is minus the loss of `z`."""

    def __init__(self, subject: Subject, batch: Batch) -> None:
        self.subject, self.batch = subject, batch

    def fit(self, *_: Any) -> None:
        """Does nothing: the model is trained."""

    def score(self, columns: np.ndarray, _: Any) -> float:
        floats = self.batch.floats.clone()
        floats[:, :2] = floats.new_tensor(np.ascontiguousarray(columns))
        results = self.subject.results(replace(self.batch, floats=floats))
        return -float(np.mean(np.concatenate([losses["z"].numpy() for _, losses, _ in results])))


def test_the_interval_lies_around_the_rise(subject: Subject) -> None:
    whole = found(subject).outputs[1].features[0]
    assert whole.low < whole.rise < whole.high
    assert whole.high - whole.rise == pytest.approx(whole.rise - whole.low)
    assert 0.02 < (whole.high - whole.low) / whole.rise < 0.6


@pytest.mark.parametrize(
    ("loss", "mean", "change"), [(4.0, 4.0, 1.0), (1.0, 1.0, 1.0), (3.0, 9.0, 1 / 6), (0.5, 2.0, 0.25)]
)
def test_a_loss_is_that_of_rows_its_root_or_that_of_tokens(loss: float, mean: float, change: float) -> None:
    assert _of_rows(loss, mean) == pytest.approx(change)


class After:
    """A stop request that comes at the given look."""

    def __init__(self, looks: int) -> None:
        self.left = looks

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize(("looks", "repeats"), [(0, None), (3, None), (20, None), (31, 1), (54, 2)])
def test_only_whole_repeats_count(subject: Subject, looks: int, repeats: int | None) -> None:
    """A pass looks five times at the deadline; a repeat has a pass for each of the four inputs."""
    deadline = Deadline(600, After(looks))
    result = importances(subject, VALIDATION, "validation", METRICS, deadline)
    assert (None if result is None else result.repeats) == repeats
