"""Why a controller could not create a pod, read from real messages of Kubernetes and KubeRay."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_operator.model.refusals import MESSAGE_CHARACTERS, cause, newest_cause

QUOTA = "exceeded quota: team, requested: limits.cpu=4, used: limits.cpu=0, limited: limits.cpu=2"


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (f'Error creating: pods "flights-1-train-x7k2p" is forbidden: {QUOTA}', QUOTA),
        (f'FailedCreateHeadPod\npods "flights-1-train-5kqfx-head-p7d2m" is forbidden: {QUOTA}', QUOTA),
        (
            'Error creating: pods "a" is forbidden: failed quota: b: pod "c" is forbidden: d',
            'failed quota: b: pod "c" is forbidden: d',
        ),
        ("Error creating: Internal error\n occurred", "Error creating: Internal error occurred"),
        ("", ""),
        ("x" * 900, "x" * MESSAGE_CHARACTERS),
    ],
)
def test_the_cause_follows_the_name_of_the_pod(message: str, words: str) -> None:
    assert cause(message) == words


@pytest.mark.parametrize(
    "newer",
    [
        {"series": {"count": 2, "lastObservedTime": "2026-11-21T12:00:09.000001Z"}},
        {"deprecatedLastTimestamp": "2026-11-21T12:00:09Z", "eventTime": None},
        {"eventTime": "2026-11-21T12:00:09.000001Z"},
    ],
)
def test_the_newest_event_counts(newer: dict[str, Any]) -> None:
    older = {"note": "older", "deprecatedLastTimestamp": "2026-11-21T12:00:08Z"}
    assert newest_cause([{"note": "newer", **newer}, older]) == "newer"
    assert newest_cause([]) == ""
