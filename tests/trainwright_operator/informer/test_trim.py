from __future__ import annotations

import copy
from datetime import UTC, datetime
from typing import Any

import pytest

from trainwright_api.checks.cluster import ValidationResult
from trainwright_api.resource.status import TrainingJobStatus
from trainwright_operator.informer.trim import read_job, read_status, strip_job, strip_node
from trainwright_operator.model.observed import Job, Manifest, Node, Taint, Waiting

TIME = "2026-11-01T12:00:00Z"
RESULT = ValidationResult(None, "digest", "flights: mistakes")


def condition(kind: str, status: str = "True", **more: Any) -> dict[str, Any]:
    return {"type": kind, "status": status, "reason": "Because", "message": "", "lastTransitionTime": TIME, **more}


def raw_job(*conditions: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "trainwright.dev/v1alpha1",
        "kind": "TrainingJob",
        "metadata": {
            "namespace": "team",
            "name": "flights",
            "uid": "u1",
            "generation": 2,
            "resourceVersion": "77",
            "creationTimestamp": TIME,
            "labels": {"who": "me"},
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{secret}"},
            "managedFields": [{"manager": "kubectl"}],
        },
        "spec": {"task": "train", "config": {"learning_rate": 1e-4}, "dataset": "s3://a/ü.csv", **spec},
        "status": {"conditions": list(conditions), "attempt": 1, "output": "s3://runs/x"},
    }


def queued(**more: Any) -> dict[str, Any]:
    """A gang that waits for room."""
    spec = {"backend": {"type": "ray"}, **more.pop("spec", {})}
    raw = raw_job(condition("Running", "False", reason="Queued"), **spec)
    raw["status"]["attempts"] = [{"number": 2, "stage": "train", **more}, {"number": 1, "completionTime": TIME}]
    return raw


def unasked(raw: Manifest) -> ValidationResult:
    raise AssertionError(f"nobody asks for the validation of {raw}")


def job_of(raw: Manifest) -> Job:
    return read_job(strip_job(raw), lambda _: RESULT)


def test_what_others_know_of_a_job_that_waits_for_room() -> None:
    assert strip_job(queued()).waiting == Waiting(TIME, "u1", gang=True, trying=True)
    assert strip_job(queued(completionTime=TIME)).waiting == Waiting(TIME, "u1", gang=True, trying=False)
    assert strip_job(queued(spec={"backend": {}})).waiting == Waiting(TIME, "u1", gang=False, trying=True)
    chosen = queued(spec={"backend": {}})
    chosen["status"]["resolved"] = {"backend": "ray"}
    assert strip_job(chosen).waiting == Waiting(TIME, "u1", gang=True, trying=True)
    chosen["status"]["resolved"] |= {"workers": 4, "gpus": 4, "workersPerPod": 2}
    assert strip_job(chosen).waiting == Waiting(TIME, "u1", gang=True, trying=True, gpus=4)


@pytest.mark.parametrize(
    ("spec", "resolved", "stage", "gang"),
    [
        ({"backend": {"type": "deepspeed"}}, {"workers": 8, "workersPerPod": 8}, "train", False),
        ({"backend": {"type": "horovod"}}, {"workers": 9, "workersPerPod": 8}, "train", True),
        ({"backend": {"type": "horovod"}}, {"workers": 9, "workersPerPod": 8}, "preprocess", False),
        ({"backend": {"type": "ray"}}, {"workers": 1}, "train", True),
        ({"backend": {"type": "ray"}}, {"workers": 4}, "preprocess", True),
        ({"backend": {"type": "ray", "processor": {"type": "pandas"}}}, {"workers": 4}, "preprocess", False),
        ({"backend": {"type": "ray"}, "task": "preprocess"}, {"workers": 1}, "preprocess", False),
        ({"backend": {"type": "deepspeed"}, "task": "evaluate"}, {"workers": 1}, "evaluate", False),
    ],
    ids=["one pod", "two pods", "job", "head", "dask", "pandas", "only preprocess", "evaluate"],
)
def test_a_gang_has_several_pods(spec: dict[str, Any], resolved: dict[str, Any], stage: str, *, gang: bool) -> None:
    raw = queued(spec=spec, stage=stage)
    raw["status"]["resolved"] = resolved
    assert (waiting := strip_job(raw).waiting) is not None
    assert waiting.gang is gang


@pytest.mark.parametrize(
    ("status", "reason", "crowded"),
    [("False", "NamespaceMaximum", True), ("True", "NamespaceMaximum", False), ("False", "Queued", False)],
)
def test_a_job_that_waits_for_the_maximum_of_its_namespace_is_crowded(status: str, reason: str, crowded: bool) -> None:
    assert strip_job(raw_job(condition("Running", status, reason=reason))).crowded == crowded


@pytest.mark.parametrize(
    "raw",
    [
        raw_job(),
        raw_job(condition("Running", "True", reason="Running")),
        raw_job(condition("Running", "False", reason="Starting")),
        raw_job(condition("Running", "False", reason="Queued"), queueName="gpus"),
        raw_job(condition("Running", "False", reason="WaitsInQueue")),
        raw_job(condition("Running", "False", reason="Queued"), condition("Failed")),
    ],
    ids=["new", "running", "starting", "in a queue of Kueue", "held back by Kueue", "finished"],
)
def test_others_wait_for_no_room(raw: dict[str, Any]) -> None:
    assert strip_job(raw).waiting is None


def test_a_job_that_runs_is_seen_whole_without_managed_fields_and_kubectls_copy() -> None:
    raw = raw_job(condition("Started"), suspend=True, ttlSecondsAfterFinished=60, ttlPolicy="DeleteJob")
    before = copy.deepcopy(raw)
    job = job_of(raw)
    assert job == Job(
        namespace="team",
        name="flights",
        uid="u1",
        generation=2,
        resource_version="77",
        created=datetime(2026, 11, 1, 12, tzinfo=UTC),
        deleting=False,
        suspend=True,
        ttl_seconds=60,
        ttl_policy="DeleteJob",
        validation=RESULT,
        status=TrainingJobStatus.model_validate(raw["status"]),
    )
    del before["metadata"]["managedFields"], before["metadata"]["annotations"]
    assert job.raw == before


def test_other_annotations_stay() -> None:
    raw = raw_job()
    raw["metadata"]["annotations"]["mine"] = "1"
    assert job_of(raw).raw["metadata"]["annotations"] == {"mine": "1"}


@pytest.mark.parametrize("kind", ["Complete", "Failed"])
def test_of_a_finished_job_what_cleans_it_up_is_kept_and_nobody_judges_it(kind: str) -> None:
    raw = raw_job(condition("Started"), condition(kind), ttlSecondsAfterFinished=60, ttlPolicy="DeleteChildren")
    raw["metadata"]["deletionTimestamp"] = TIME
    stored = strip_job(raw)
    assert stored.finished
    job = read_job(stored, unasked)
    assert (job.validation, job.raw, job.deleting) == (None, {}, True)
    assert (job.key, job.uid, job.resource_version, job.generation) == (("team", "flights"), "u1", "77", 2)
    assert (job.ttl_seconds, job.ttl_policy, job.suspend) == (60, "DeleteChildren", False)
    assert job.status == TrainingJobStatus.model_validate(raw["status"])


def test_a_finished_job_costs_little() -> None:
    raw = raw_job(condition("Complete"))
    raw["spec"]["config"] = {"input_features": [{"name": f"f{number}", "type": "number"} for number in range(1000)]}
    raw["status"]["attempts"] = [{"number": number, "child": f"flights-{number}"} for number in range(10)]
    assert len(strip_job(raw).data) < 600


@pytest.mark.parametrize(
    ("conditions", "finished"),
    [
        ([], False),
        ([condition("Complete", "False"), condition("Failed", "Unknown")], False),
        ([condition("Running")], False),
    ],
)
def test_only_an_end_that_holds_is_one(conditions: list[Any], finished: bool) -> None:
    stored = strip_job(raw_job(*conditions))
    assert stored.finished == finished


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("suspend", "yes"),
        ("ttlSecondsAfterFinished", "soon"),
        ("ttlSecondsAfterFinished", None),
        ("ttlPolicy", None),
        ("config", None),
    ],
)
def test_rubbish_in_the_spec_counts_as_absent(key: str, value: Any) -> None:
    job = job_of(raw_job(**{key: value}))
    assert (job.suspend, job.ttl_seconds, job.ttl_policy) == (False, None, "DeleteChildren")


@pytest.mark.parametrize("part", ["spec", "status"])
def test_a_job_without_spec_or_status(part: str) -> None:
    raw = raw_job()
    del raw[part]
    assert job_of(raw).name == "flights"


@pytest.mark.parametrize("raw", [None, {}, 3, "x", [1]])
def test_no_status_is_an_empty_one(raw: Any) -> None:
    assert read_status(raw) == TrainingJobStatus()


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"attempt": -1}, "status.attempt: "),
        ({"phase": "Dancing"}, "status.phase: "),
        ({"startTime": "2026-02-30T12:00:00Z"}, "status.startTime: expected a time such as 2026-05-01T12:00:00Z"),
        ({"attempts": [{"number": 1}, {"number": 2, "outcome": "shrug"}]}, "status.attempts[1].outcome: "),
    ],
)
@pytest.mark.parametrize("ends", [(), (condition("Complete"),)], ids=["unfinished", "finished"])
def test_a_status_that_cannot_be_read_is_empty_and_says_why(
    change: dict[str, Any], line: str, ends: tuple[dict[str, Any], ...]
) -> None:
    raw = raw_job(*ends)
    raw["status"] |= change
    job = job_of(raw)
    assert job.status == TrainingJobStatus()
    assert job.unreadable.startswith(line)


def test_what_only_a_newer_operator_knows_is_left_out() -> None:
    raw = {"attempt": 1, "cost": 5, "attempts": [{"number": 1, "price": 1}, {"number": 2}]}
    before = copy.deepcopy(raw)
    status = read_status(raw)
    assert status.model_dump(by_alias=True, exclude_none=True) == {
        "attempt": 1,
        "attempts": [{"number": 1}, {"number": 2}],
    }
    assert raw == before


def test_a_node() -> None:
    raw = {
        "metadata": {"name": "n1", "labels": {"zone": "a"}},
        "spec": {
            "unschedulable": True,
            "taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}, {"key": "old", "effect": "NoExecute"}],
        },
        "status": {
            "conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": "True"}],
            "allocatable": {"cpu": "3500m", "memory": "16Gi", "nvidia.com/gpu": "8"},
        },
    }
    assert strip_node(raw) == Node(
        name="n1",
        ready=True,
        unschedulable=True,
        labels={"zone": "a"},
        taints=(Taint("gpu", "NoSchedule", "yes"), Taint("old", "NoExecute")),
        allocatable={"cpu": 3.5, "memory": 16 * 2**30, "nvidia.com/gpu": 8},
    )


def test_a_node_of_which_little_is_known() -> None:
    assert strip_node(
        {"metadata": {"name": "n1"}, "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
    ) == (Node(name="n1", ready=False, unschedulable=False, labels={}, taints=(), allocatable={}))
