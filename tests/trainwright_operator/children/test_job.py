from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from trainwright_operator.children import child, shared_objects
from trainwright_operator.children.job import state_of_job

from .child_specs import child_spec, container, templates

JOBS = ("local", "deepspeed", "horovod")


@pytest.mark.parametrize("backend", JOBS)
def test_nobody_but_the_operator_retries_suspends_or_cleans_up(backend: str) -> None:
    spec = child(child_spec(backend, queueName="gpus"))["spec"]
    assert spec["backoffLimit"] == 0
    assert not {"suspend", "ttlSecondsAfterFinished", "activeDeadlineSeconds"} & set(spec)
    # With either field, a terminating pod would fail the Job only after it is gone.
    assert not {"podFailurePolicy", "podReplacementPolicy"} & set(spec)


@pytest.mark.parametrize("backend", JOBS)
def test_it_runs_the_one_command(backend: str) -> None:
    assert container(templates(child_spec(backend))["trainer"])["command"] == [
        "trainwright",
        "run",
        "/etc/trainwright/job.yaml",
    ]


def test_local_is_one_pod() -> None:
    assert set(child(child_spec("local"))["spec"]) == {"backoffLimit", "template"}


@pytest.mark.parametrize("backend", ["local", "horovod"])
def test_a_task_of_a_model_is_one_pod_without_ray(backend: str) -> None:
    made = child_spec(backend, task="predict", model="s3://runs/a/model", config=None)
    job = child(made)
    assert (job["kind"], set(job["spec"])) == ("Job", {"backoffLimit", "template"})
    assert {one["kind"] for one in shared_objects(made)} == {"ConfigMap"}


START, END = "2026-11-21T12:00:00Z", "2026-11-21T12:30:00Z"


def condition(kind: str, status: str = "True", **more: str) -> dict[str, Any]:
    return {"type": kind, "status": status, "lastTransitionTime": END, **more}


@pytest.mark.parametrize(
    ("what", "spec", "status", "state"),
    [
        ("just created", {}, None, "pending"),
        ("its pod waits for room", {}, {"active": 1, "ready": 0, "startTime": START}, "pending"),
        ("its pod runs", {}, {"active": 1, "ready": 1, "startTime": START}, "running"),
        ("half a gang runs", {"parallelism": 4}, {"active": 4, "ready": 2}, "pending"),
        ("a gang runs", {"parallelism": 4}, {"active": 4, "ready": 4}, "running"),
        ("a gang ends one by one", {"parallelism": 4}, {"active": 2, "ready": 2, "succeeded": 2}, "running"),
        ("queued by Kueue", {"suspend": True}, {}, "suspended"),
        ("admitted by Kueue", {"suspend": False}, {}, "pending"),
        ("taken back by Kueue", {"suspend": True}, {"active": 1, "ready": 1}, "suspended"),
        ("done", {}, {"conditions": [condition("SuccessCriteriaMet"), condition("Complete")]}, "succeeded"),
        ("about to fail", {}, {"conditions": [condition("FailureTarget")], "active": 1, "ready": 1}, "failed"),
        ("failed", {}, {"conditions": [condition("FailureTarget"), condition("Failed")]}, "failed"),
        ("failed, and suspended too", {"suspend": True}, {"conditions": [condition("Failed")]}, "failed"),
        ("a condition that does not hold", {}, {"conditions": [condition("Failed", "False")]}, "pending"),
    ],
)
def test_a_job_is(what: str, spec: dict[str, Any], status: dict[str, Any] | None, state: str) -> None:
    assert state_of_job({"spec": spec, "status": status}).state == state, what


def test_a_failure_says_why_and_when() -> None:
    failed = condition("Failed", reason="BackoffLimitExceeded", message="Job has reached the specified backoff limit")
    found = state_of_job({"status": {"startTime": START, "conditions": [failed]}})
    assert (found.reason, found.message) == ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
    assert found.started == datetime(2026, 11, 21, 12, tzinfo=UTC)
    assert found.finished == datetime(2026, 11, 21, 12, 30, tzinfo=UTC)


def test_a_success_says_when() -> None:
    status = {"startTime": START, "completionTime": END, "conditions": [condition("Complete")]}
    assert state_of_job({"status": status}).finished == datetime(2026, 11, 21, 12, 30, tzinfo=UTC)


def test_a_job_that_lives_does_not_say_since_when_its_pods_run() -> None:
    status = {"active": 1, "ready": 1, "startTime": START}
    assert state_of_job({"status": status}).started is None
