from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from trainwright_operator.children import child
from trainwright_operator.children.rayjob import FIRST_CHARACTERS, LAST_CHARACTERS, state_of_ray_job

from .child_specs import SPEC, child_spec, container, env, sized, templates


def spec_of(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = child(child_spec("ray", **changes))["spec"]
    return found


def test_one_submission_of_a_fixed_text() -> None:
    spec = spec_of(dataset="s3://data/$(rm -rf /)")
    assert spec["entrypoint"] == "trainwright run /etc/trainwright/job.yaml"
    assert spec["submissionMode"] == "K8sJobMode"
    assert spec["submitterConfig"] == {"backoffLimit": 0}
    assert spec["backoffLimit"] == 0
    assert not {"runtimeEnvYAML", "metadata", "jobId"} & set(spec)


def test_the_cluster_goes_with_the_job_and_nobody_but_the_operator_watches_the_clock() -> None:
    spec = spec_of(queueName="gpus", activeDeadlineSeconds=60, ttlSecondsAfterFinished=5)
    assert spec["shutdownAfterJobFinishes"] is True
    own = {"suspend", "ttlSecondsAfterFinished", "activeDeadlineSeconds", "preRunningDeadlineSeconds"}
    assert not own & set(spec)


def test_the_cluster_asks_for_a_token() -> None:
    cluster = spec_of()["rayClusterSpec"]
    assert cluster["authOptions"] == {"mode": "token"}
    assert cluster["rayVersion"] == "2.60.0"
    assert spec_of(rayVersion="2.56.1")["rayClusterSpec"]["rayVersion"] == "2.56.1"


@pytest.mark.parametrize("task", ["predict", "evaluate"])
def test_a_task_of_a_model_has_the_same_cluster(task: str) -> None:
    made = child_spec("ray", task=task, model="s3://runs/a/model", config=None, resolved=sized(2, 1), stage=task)
    found = child(made)
    (group,) = found["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    assert (found["kind"], group["replicas"], group["rayStartParams"]["num-gpus"]) == ("RayJob", 2, "0")
    assert env(group["template"])["TRAINWRIGHT_RAY_VERSION"] == "2.60.0"


@pytest.mark.parametrize(("workers", "per_pod", "pods"), [(1, 1, 1), (4, 1, 4), (4, 4, 1), (5, 2, 3)])
def test_one_group_of_a_fixed_size(workers: int, per_pod: int, pods: int) -> None:
    (group,) = spec_of(resolved=sized(workers, per_pod))["rayClusterSpec"]["workerGroupSpecs"]
    assert group["groupName"] == "workers"
    assert group["replicas"] == group["minReplicas"] == group["maxReplicas"] == pods


def test_slices_of_gpus_are_limits_that_ray_is_reported_of() -> None:
    """KubeRay does not recognise the MIG profile as a GPU by its name."""
    trainer = {"resources_per_worker": {"CPU": 2, "GPU": 1}}
    spec = spec_of(
        backend_keys={"trainer": trainer or {}}, resolved=sized(6, 3, 6), gpuResourceName="nvidia.com/mig-1g.5gb.me"
    )
    (group,) = spec["rayClusterSpec"]["workerGroupSpecs"]
    resources = container(group["template"])["resources"]
    assert (group["replicas"], group["rayStartParams"]) == (2, {"num-cpus": "6", "num-gpus": "3"})
    assert resources == {"requests": {"cpu": "6"}, "limits": {"nvidia.com/mig-1g.5gb.me": "3"}}
    assert "nvidia.com" not in str(spec["rayClusterSpec"]["headGroupSpec"])
    assert "nvidia.com" not in str(spec["submitterPodTemplate"])


def test_each_pod_has_one_container_and_kuberay_gives_it_its_command() -> None:
    for template in templates(child_spec("ray")).values():
        assert len(template["spec"]["containers"]) == 1
        assert "command" not in container(template)
        assert "args" not in container(template)


def test_only_pods_with_gpus_have_the_image_with_cuda() -> None:
    images = {"image": "gpu:1", "cpu_image": "cpu:1"}
    of_workers = sized(2, 1, gpus=2).model_copy(update=images)
    found = templates(child_spec("ray", resolved=of_workers))
    assert {role: container(one)["image"] for role, one in found.items()} == {
        "head": "cpu:1",
        "worker": "gpu:1",
        "submitter": "cpu:1",
    }
    prepared = templates(child_spec("ray", stage="preprocess", resolved=of_workers))
    assert {container(one)["image"] for one in prepared.values()} == {"cpu:1"}


def test_an_init_container_has_the_image_of_its_pod() -> None:
    template = {"initContainers": [{"name": "fetch"}]}
    of_workers = sized(1, 1, gpus=1).model_copy(update={"image": "gpu:1", "cpu_image": "cpu:1"})
    found = templates(child_spec("ray", resolved=of_workers, podTemplate=template))
    assert {
        role: [first["image"] for first in one["spec"].get("initContainers", [])] for role, one in found.items()
    } == {
        "head": ["cpu:1"],
        "worker": ["gpu:1"],
        "submitter": [],
    }


def test_the_head_names_the_ports_that_kuberay_looks_for() -> None:
    ports = container(templates(child_spec("ray"))["head"])["ports"]
    assert {port["name"]: port["containerPort"] for port in ports} == {"gcs-server": 6379, "dashboard": 8265}


START, RAN, END = "2026-11-21T12:00:00Z", "2026-11-21T12:20:00Z", "2026-11-21T12:30:00Z"
EXITED = "Job entrypoint command failed with exit code 2, last available logs (truncated to 20,000 chars):\n"


def of(deployment: str, job: str = "", **more: Any) -> dict[str, Any]:
    return {"status": {"jobDeploymentStatus": deployment, "jobStatus": job, **more}}


@pytest.mark.parametrize(
    ("raw", "state"),
    [
        ({}, "pending"),
        ({"status": {}}, "pending"),
        (of("Initializing"), "pending"),
        (of("Initializing", "RUNNING"), "pending"),
        (of("Waiting"), "pending"),
        (of("Retrying", "FAILED"), "pending"),
        (of("Running"), "pending"),
        (of("Running", "PENDING"), "pending"),
        (of("Running", "RUNNING"), "running"),
        (of("Running", "SUCCEEDED"), "running"),
        (of("Running", "FAILED"), "running"),
        (of("Complete", "SUCCEEDED"), "succeeded"),
        (of("Complete", "STOPPED"), "failed"),
        (of("Complete", "FAILED"), "failed"),
        (of("Complete", ""), "failed"),
        (of("Failed", "FAILED"), "failed"),
        (of("Failed", "RUNNING"), "failed"),
        (of("Failed", "SUCCEEDED"), "failed"),
        (of("ValidationFailed"), "failed"),
        (of("Suspending", "RUNNING"), "suspended"),
        (of("Suspended"), "suspended"),
        ({"spec": {"suspend": True}}, "suspended"),
        ({"spec": {"suspend": True}, **of("Running", "RUNNING")}, "suspended"),
        ({"spec": {"suspend": True}, **of("Complete", "SUCCEEDED")}, "succeeded"),
        (of("a word of tomorrow", "RUNNING"), "pending"),
    ],
)
def test_a_ray_job_is(raw: dict[str, Any], state: str) -> None:
    assert state_of_ray_job(raw).state == state


def test_a_user_s_mistake_is_read_from_the_message() -> None:
    found = state_of_ray_job(of("Failed", "FAILED", reason="AppFailed", message=EXITED + "no column 'dep_dely'"))
    assert (found.exit_code, found.reason) == (2, "AppFailed")
    assert found.message == "Job entrypoint command failed with exit code 2"
    assert found.log_tail.endswith("no column 'dep_dely'")


def test_the_loss_of_the_head_has_no_exit_code() -> None:
    message = "Job submission has failed. Reason: BackoffLimitExceeded. Message: Job has reached the backoff limit"
    found = state_of_ray_job(of("Failed", "RUNNING", reason="SubmissionFailed", message=message))
    assert (found.state, found.exit_code, found.reason) == ("failed", None, "SubmissionFailed")


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("Job entrypoint command failed with exit code 75", 75),
        ("Job entrypoint command failed with exit code -9, last available logs:\nx", 137),
        ("Unexpected error occurred:\nmy own log: it failed with exit code 2", None),
        ("failed with exit code many", None),
        ("failed with exit code 99999999999999999999", None),
        (None, None),
    ],
)
def test_only_kuberays_own_line_shows_an_exit_code(message: str | None, code: int | None) -> None:
    assert state_of_ray_job(of("Failed", "FAILED", message=message)).exit_code == code


def test_a_stopped_job_has_a_reason_too() -> None:
    assert state_of_ray_job(of("Complete", "STOPPED")).reason == "STOPPED"


def test_it_started_when_ray_started_it() -> None:
    times = {"startTime": START, "endTime": END, "rayJobInfo": {"startTime": RAN}}
    found = state_of_ray_job(of("Complete", "SUCCEEDED", **times))
    assert found.started == datetime(2026, 11, 21, 12, 20, tzinfo=UTC)
    assert found.finished == datetime(2026, 11, 21, 12, 30, tzinfo=UTC)
    assert state_of_ray_job(of("Running", "RUNNING", startTime=START)).started == datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize("raw", [of("Initializing", startTime=START), of("Failed", "", startTime=START)])
def test_waiting_for_room_is_no_start(raw: dict[str, Any]) -> None:
    assert state_of_ray_job(raw).started is None


def test_a_zero_time_is_none() -> None:
    times = {"startTime": "0001-01-01T00:00:00Z", "endTime": None}
    found = state_of_ray_job(of("Complete", "SUCCEEDED", **times))
    assert (found.started, found.finished) == (None, None)


def test_of_a_long_message_both_ends_are_kept() -> None:
    message = EXITED + "x" * 20_000 + "the last words"
    found = state_of_ray_job(of("Failed", "FAILED", message=message))
    assert len(found.log_tail) <= FIRST_CHARACTERS + LAST_CHARACTERS + 1
    assert found.log_tail.startswith(EXITED)
    assert found.log_tail.endswith("the last words")
    assert found.exit_code == 2


def test_a_secret_is_taken_out_of_a_message_before_that_is_cut_in_its_midst() -> None:
    for before in range(LAST_CHARACTERS - 40, LAST_CHARACTERS):
        message = EXITED + "x" * 20_000 + " password=hunter2-hunter2" + "." + " " * (before - 1)
        assert "hunter2" not in state_of_ray_job(of("Failed", "FAILED", message=message)).message


def search(**executor: Any) -> dict[str, Any]:
    rate = {"trainer.learning_rate": {"space": "uniform", "lower": 0.1, "upper": 1}}
    return {**SPEC["config"], "hyperopt": {"parameters": rate, "executor": {"num_samples": 8, **executor}}}


def test_a_search_has_a_pod_for_each_trial_that_runs_at_the_same_time() -> None:
    config = search(max_concurrent_trials=3, cpu_resources_per_trial=2, gpu_resources_per_trial=1)
    made = child_spec("ray", stage="hyperopt", task="hyperopt", config=config, resolved=sized(3, 1, 3))
    spec = child(made)["spec"]
    (group,) = spec["rayClusterSpec"]["workerGroupSpecs"]
    assert spec["entrypoint"] == "trainwright run /etc/trainwright/job.yaml"
    assert (group["replicas"], group["rayStartParams"]) == (3, {"num-cpus": "2", "num-gpus": "1"})
    assert container(group["template"])["resources"] == {"requests": {"cpu": "2"}, "limits": {"nvidia.com/gpu": "1"}}
    head = env(spec["rayClusterSpec"]["headGroupSpec"]["template"])
    assert (head["TRAINWRIGHT_STAGE"], head["TRAINWRIGHT_WORKERS"]) == ("hyperopt", "3")


def test_a_search_on_one_machine_is_one_pod() -> None:
    made = child(child_spec("local", stage="hyperopt", task="hyperopt", config=search()))
    assert (made["kind"], made["spec"]["template"]["spec"]["containers"][0]["name"]) == ("Job", "trainer")


def test_the_status_says_why_pods_are_refused() -> None:
    said = 'FailedCreateHeadPod\npods "flights-1-train-5kqfx-head-p7d2m" is forbidden: exceeded quota: team'
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreateHeadPod", "message": said}
    found = state_of_ray_job(of("Initializing", "", rayClusterStatus={"conditions": [failure]}))
    assert (found.state, found.pods_refused) == ("pending", "exceeded quota: team")
