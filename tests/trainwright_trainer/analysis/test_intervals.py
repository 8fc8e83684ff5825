from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import bootstrap
from sklearn.metrics import roc_auc_score

from trainwright_trainer.analysis.deadline import Deadline
from trainwright_trainer.analysis.intervals import intervals
from trainwright_trainer.analysis.subject import Subject
from trainwright_trainer.callbacks.events import Scores
from trainwright_trainer.data.prepared import TEST


@pytest.fixture
def scores(subject: Subject) -> Scores:
    batch = subject.sample(TEST, 10**6)
    assert batch is not None
    metrics = subject.new_metrics()
    for logits, losses, part in subject.results(batch):
        metrics.update(logits, losses, part)
    return metrics.compute()


def predicted(subject: Subject) -> tuple[np.ndarray, np.ndarray]:
    batch = subject.batch(subject.data.rows_of(TEST))
    parts = [(logits["y"], subject.model.targets(part, "y")) for logits, _, part in subject.results(batch)]
    logits, targets = (torch.cat(each).numpy() for each in zip(*parts, strict=True))
    return logits, targets > 0.5


def test_the_ends_are_those_of_the_usual_bootstrap(subject: Subject, scores: Scores) -> None:
    found = intervals(subject, TEST, scores, Deadline(600))
    logits, targets = predicted(subject)
    oracles = {
        "roc_auc": lambda a, b: roc_auc_score(b, a),
        "accuracy": lambda a, b: float(np.mean((a >= 0) == b)),
    }
    for metric, of in oracles.items():
        ends = bootstrap(
            (logits, targets), of, paired=True, vectorized=False, method="percentile", n_resamples=500, rng=0
        )
        low, high = found["y"][metric]
        assert low < scores["y"][metric] < high
        expected = ends.confidence_interval
        width = expected.high - expected.low
        assert (low, high) == pytest.approx((expected.low, expected.high), abs=0.25 * width)


def test_each_metric_of_each_output_has_one(subject: Subject, scores: Scores) -> None:
    found = intervals(subject, TEST, scores, Deadline(600))
    assert {name: set(metrics) for name, metrics in found.items()} == {name: set(scores[name]) for name in ("y", "z")}
    assert found == intervals(subject, TEST, scores, Deadline(600))


def test_a_sample_narrows_the_interval_around_the_score_of_all_rows(
    subject: Subject, scores: Scores, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = intervals(subject, TEST, scores, Deadline(600))["z"]["mean_absolute_error"]
    monkeypatch.setattr("trainwright_trainer.analysis.intervals.MOST_ROWS", 100)
    some = intervals(subject, TEST, scores, Deadline(600))["z"]["mean_absolute_error"]
    assert some != whole
    assert some[1] - some[0] == pytest.approx(whole[1] - whole[0], rel=0.4)
    assert some[0] < scores["z"]["mean_absolute_error"] < some[1]


def test_few_rows_or_little_time_give_none(subject: Subject, scores: Scores) -> None:
    assert intervals(subject, TEST, scores, Deadline(0)) == {}
    splits = subject.data.splits.copy()
    splits[subject.data.rows_of(TEST)[10:]] = 0
    assert intervals(replace(subject, data=replace(subject.data, splits=splits)), TEST, scores, Deadline(600)) == {}
