"""Progress in a few words."""

from __future__ import annotations

import pytest

from trainwright_api.resource.display import duration, metric, summary, time_left
from trainwright_api.resource.messages import ProgressMessage, Score
from trainwright_api.resource.status import Trials


@pytest.mark.parametrize(
    ("fraction", "eta", "words"),
    [
        (0.41, 180.0, "41% 3m left"),
        (0.999, 0.4, "99% 0s left"),
        (0.41, None, "41%"),
        (1.0, 10.0, "100%"),
        (0.0, 9e9, "0% 104166d16h left"),
        (None, 10.0, None),
    ],
)
def test_the_summary_shows_percent_and_time_left(fraction, eta, words):
    assert summary(ProgressMessage(fraction=fraction, eta_seconds=eta)) == words


@pytest.mark.parametrize(
    ("stage", "fraction", "words"),
    [
        ("preprocess", 0.41, "preprocess 41% 3m left"),
        ("preprocess", None, "preprocess"),
        ("train", 0.41, "41% 3m left"),
    ],
)
def test_preprocessing_is_called_so(stage, fraction, words):
    assert summary(ProgressMessage(stage=stage, fraction=fraction, eta_seconds=180.0)) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0s"),
        (59.4, "59s"),
        (59.6, "1m"),
        (3599, "59m"),
        (3600, "1h"),
        (7500, "2h5m"),
        (86_399, "23h59m"),
        (86_400, "1d"),
        (100_000, "1d3h"),
    ],
)
def test_a_duration_has_two_units_at_most(seconds, words):
    assert duration(seconds) == words


def test_no_time_left_is_reported_where_none_is_known():
    assert time_left(ProgressMessage()) is None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.7421, "roc_auc=0.742"),
        (0.0, "roc_auc=0.000"),
        (-12.5, "roc_auc=-12.500"),
        (0.0000123456, "roc_auc=1.235e-05"),
        (1234567.0, "roc_auc=1.235e+06"),
    ],
)
def test_the_metric_has_a_name_and_a_short_value(value, words):
    assert metric(ProgressMessage(validation_metric=Score(name="roc_auc", value=value))) == words


def test_there_may_be_no_metric():
    assert metric(ProgressMessage()) is None


@pytest.mark.parametrize(
    ("trials", "fraction", "words"),
    [
        (Trials(total=12, finished=7), 0.5, "7/12 trials 3m left"),
        (Trials(total=12, finished=12), 1.0, "12/12 trials"),
        (Trials(total=1), 0.0, "0/1 trial 3m left"),
        (Trials(finished=7), None, "7 trials 3m left"),
    ],
)
def test_a_search_shows_its_trials(trials, fraction, words):
    assert summary(ProgressMessage(trials=trials, fraction=fraction, eta_seconds=180.0)) == words
