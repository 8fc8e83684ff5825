"""The messages between pods and operator: JSON in camelCase, and an outcome that fits a termination message."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from trainwright_api.resource.messages import (
    LOG_BYTES,
    TERMINATION_BYTES,
    OutcomeMessage,
    ProgressMessage,
    Reply,
    Report,
    Score,
    encoded,
    last_bytes,
    outcome_from_termination,
    termination_message,
)

OUTCOME = OutcomeMessage(
    attempt=2, outcome="mistake", line="dataset: 'x' is missing", log_tail="a\nb", test_scores={"late.roc_auc": 0.7}
)


def test_a_report_is_json_in_camel_case_without_what_is_absent():
    progress = ProgressMessage(fraction=0.5, eta_seconds=3.5, validation_metric=Score(name="loss", value=1.0))
    assert json.loads(encoded(Report(uid="u", attempt=1, progress=progress))) == {
        "uid": "u",
        "attempt": 1,
        "progress": {"fraction": 0.5, "etaSeconds": 3.5, "validationMetric": {"name": "loss", "value": 1.0}},
    }


def test_an_outcome_is_of_a_class_and_reads_back():
    assert json.loads(encoded(OUTCOME))["class"] == "mistake"
    assert OutcomeMessage.model_validate_json(encoded(OUTCOME)) == OUTCOME
    assert Reply.model_validate_json(encoded(Reply(stop=True, reason="because"))).stop


@pytest.mark.parametrize(
    "body",
    [
        {"attempt": 1},
        {"uid": "u", "attempt": -1},
        {"uid": "u", "attempt": "1"},
        {"uid": "u", "attempt": 1, "progres": {}},
        {"uid": "u", "attempt": 1, "progress": {"fraction": 1.1}},
        {"uid": "u", "attempt": 1, "outcome": {"attempt": 1, "class": "finished"}},
    ],
)
def test_messages_are_strict(body):
    with pytest.raises(ValidationError):
        Report.model_validate(body)


def test_a_termination_message_reads_back():
    assert outcome_from_termination(termination_message(OUTCOME)) == OUTCOME


def test_the_stage_that_ended_is_reported_in_the_shortest_termination_message_too():
    large = OUTCOME.model_copy(update={"stage": "preprocess", "line": "\x01" * 1024, "model": "\x01" * 4096})
    found = outcome_from_termination(termination_message(large))
    assert found is not None
    assert (found.stage, found.model) == ("preprocess", None)


@pytest.mark.parametrize("letter", ["x", "é", "\n", '"', "\x01", "𝄞"])
def test_a_termination_message_fits_whatever_the_log_is_made_of(letter):
    large = OUTCOME.model_copy(update={"log_tail": letter * LOG_BYTES, "line": letter * 1024, "model": letter * 4096})
    text = termination_message(large)
    assert len(text.encode()) <= TERMINATION_BYTES
    found = outcome_from_termination(text)
    assert found is not None
    assert (found.attempt, found.outcome) == (2, "mistake")


def test_the_end_of_a_log_is_kept_longest():
    tail = "\n".join(f"line {number}" for number in range(1000))
    found = outcome_from_termination(termination_message(OUTCOME.model_copy(update={"log_tail": tail})))
    assert found is not None
    assert found.log_tail is not None
    assert found.log_tail.endswith("line 999")
    assert found.log_tail.startswith("line ")
    assert found.test_scores == OUTCOME.test_scores


@pytest.mark.parametrize("text", ["", "killed", "[]", "3", "null", '{"attempt": 1', "[" * 100_000, '{"attempt":1}'])
def test_the_termination_message_of_another_program_is_none(text):
    assert outcome_from_termination(text) is None


def test_a_termination_message_is_redacted():
    found = outcome_from_termination(encoded(OUTCOME.model_copy(update={"line": "password=x", "log_tail": "token: y"})))
    assert found is not None
    assert (found.line, found.log_tail) == ("password=(hidden)", "token: (hidden)")


@pytest.mark.parametrize(
    ("text", "limit", "end"),
    [("abc", 3, "abc"), ("abc", 2, "bc"), ("ab\ncd", 4, "cd"), ("aé", 1, ""), ("x\né", 3, "é"), ("ab", 0, "")],
)
def test_the_last_bytes_of_a_text_are_whole_letters_and_lines(text, limit, end):
    assert last_bytes(text, limit) == end
