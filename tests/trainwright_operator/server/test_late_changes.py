"""The warnings for changes of jobs that have started."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_operator.server.late_changes import warnings

RUNS = {"attempts": [{"number": 2}, {"number": 1, "completionTime": "2026-05-01T12:00:00Z"}]}
PAUSES = {"attempts": [{"number": 1, "completionTime": "2026-05-01T12:00:00Z"}]}
FAILED = {**PAUSES, "conditions": [{"type": "Failed", "status": "True"}]}


def change(status: Any, **spec: Any) -> list[str]:
    """Return the warnings for a change of a job with this status."""
    same = {"dataset": "s3://a/b.csv", "backoffLimit": 3}
    return list(warnings({"spec": {**same, **spec}}, {"spec": same, "status": status}))


def test_pods_that_run_keep_what_they_started_with() -> None:
    assert change(RUNS, podTemplate={"labels": {"a": "b"}}, image="mine:2", activeDeadlineSeconds=60) == [
        "image, podTemplate: acts from the next attempt on; attempt 2 goes on without the change. "
        "To begin an attempt now, suspend and resume the job"
    ]


@pytest.mark.parametrize("status", [None, {}, PAUSES])
def test_between_attempts_the_next_one_has_the_change(status: Any) -> None:
    assert change(status, podTemplate={"labels": {"a": "b"}}) == []


def test_limits_act_at_once() -> None:
    assert change(RUNS, backoffLimit=5, suspend=True, ttlSecondsAfterFinished=60) == []


@pytest.mark.parametrize("status", [RUNS, PAUSES])
def test_what_was_decided_at_the_start_stays(status: Any) -> None:
    assert change(status, workersPerPod=2) == [
        "workersPerPod: decided at the start of the job; the change acts only when a range of workers is resized"
    ]


def test_after_the_end_only_the_clean_up_acts() -> None:
    assert change(FAILED, ttlSecondsAfterFinished=60, ttlPolicy="DeleteJob") == []
    assert change(FAILED, suspend=True, backoffLimit=9) == [
        "backoffLimit, suspend: the job has ended (Failed), so the change does not act: create another job"
    ]
