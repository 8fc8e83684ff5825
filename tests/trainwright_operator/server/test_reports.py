"""Parsing of reports: invalid optional fields are dropped, invalid required fields raise an error."""

from __future__ import annotations

import json

import pytest

from trainwright_api.resource.messages import LOG_BYTES
from trainwright_operator.server.reports import read_report


def read(**more):
    return read_report(json.dumps({"uid": "u", "attempt": 1, **more}).encode())


def ended(**more):
    return read(outcome={"attempt": 1, "class": "crash", **more}).outcome


@pytest.mark.parametrize(("fraction", "kept"), [(0.5, 0.5), (1.0000001, 1.0), (-0.1, 0.0), (7, 1.0)])
def test_a_fraction_is_brought_into_its_bounds(fraction, kept):
    assert read(progress={"fraction": fraction}).progress.fraction == kept


def test_numbers_that_are_none_are_left_out():
    progress = read(
        progress={
            "fraction": float("nan"),
            "etaSeconds": float("inf"),
            "rowsPerSecond": None,
            "metrics": {"loss": float("nan"), "roc_auc": 0.7, "x": "high", "y": None},
            "validationMetric": {"name": "loss", "value": float("nan")},
        }
    ).progress
    assert progress.model_dump(exclude_none=True) == {"metrics": {"roc_auc": 0.7}}


def test_what_another_version_shows_is_left_out():
    report = read(progress={"epoch": 3, "mood": "good"}, colour="red")
    assert report.progress.epoch == 3


def test_a_part_that_lacks_something_is_left_out_as_a_whole():
    progress = read(progress={"epoch": 3, "validationMetric": {"nam": "loss"}, "resolved": 5}).progress
    assert progress.model_dump(exclude_none=True) == {"epoch": 3}


def test_too_many_metrics_are_left_out_and_the_rest_is_kept():
    assert read(progress={"epoch": 1, "metrics": {str(n): 1.0 for n in range(300)}}).progress.metrics is None


def test_the_words_of_an_outcome_are_cut():
    outcome = ended(line="x" * 5000 + "\nmore", logTail="é\n" * 5000)
    assert outcome.line == "x" * 1024
    assert len(outcome.log_tail.encode()) <= LOG_BYTES


def test_secrets_are_hidden_before_a_text_is_cut():
    outcome = ended(line="password=hunter2 is wrong", logTail="token=" + "s" * 5000 + "\nend")
    assert (outcome.line, outcome.log_tail) == ("password=(hidden) is wrong", "token=(hidden)\nend")


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (b"", "Expecting value"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "expected keys and values, found a list"),
        (b"{}", "uid: missing"),
        (b'{"uid": "u", "attempt": "1", "progress": {}}', "attempt: expected a whole number, found the text '1'"),
        (b'{"uid": "u", "attempt": 1}', "neither progress nor outcome"),
        (
            b'{"uid": "u", "attempt": 1, "progress": 3}',
            "progress: expected keys and values, as in {epoch: 3}, found the number 3",
        ),
        (b'{"uid": "u", "attempt": 1, "outcome": {"attempt": 1, "class": "ok"}}', "outcome.class: expected done"),
        (b'{"uid": "u", "attempt": 1, "outcome": {"attempt": 2, "class": "done"}}', "outcome.attempt is another"),
    ],
)
def test_what_is_no_report_is_reported_in_one_line(body, line):
    with pytest.raises(ValueError) as error:  # noqa: PT011  # the line is what is tested
        read_report(body)
    assert str(error.value).startswith(line)
    assert "\n" not in str(error.value)
