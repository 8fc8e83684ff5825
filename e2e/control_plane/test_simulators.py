"""The simulators act on a real API server like the Job controller, KubeRay, Kueue and kubelets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest
from testkit.api import Api, Manifest, condition, until, until_gone, until_object
from testkit.api.resource import JOBS, PODS, RAY_CLUSTERS, RAY_JOBS, TRAINING_JOBS
from testkit.cluster.cluster import Cluster
from testkit.harness.jobs import Kind, started
from testkit.simulators import (
    Evict,
    Fail,
    Invalid,
    LoseHead,
    LoseNode,
    NeverStart,
    Preempt,
    RunForever,
    Script,
    Scripts,
    Simulators,
    StopWhenAsked,
    Succeed,
)
from testkit.simulators.children import is_finished

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses

Scenario = Callable[[Api, Simulators], Awaitable[None]]


def play(cluster: Cluster, namespace: str, script: Script, scenario: Scenario, **options: Any) -> Simulators:
    """Run `scenario` beside the simulators; every job follows `script`."""

    async def run() -> Simulators:
        async with (
            Api(cluster.kubeconfig) as api,
            Simulators(api, namespace, Scripts(script), **options) as simulators,
        ):
            await scenario(api, simulators)
            return simulators

    return asyncio.run(run())


async def ended(api: Api, namespace: str, kind: Kind, name: str = "flights") -> Manifest:
    """The child of a job's first attempt, after it has finished."""
    resource, child = await started(api, namespace, name, kind)
    return await until_object(api, resource, child, namespace, is_finished, what=f"the end of {child}")


@pytest.mark.parametrize("kind", ["local", "gang"])
def test_job_ends_as_the_job_controller_ends_it(cluster: Cluster, namespace: str, kind: Kind) -> None:
    async def scenario(api: Api, _: Simulators) -> None:
        job = await ended(api, namespace, kind)
        assert condition(job, "Complete") == condition(job, "SuccessCriteriaMet") == "True"
        assert job["status"]["succeeded"] == job["spec"]["completions"] == (1 if kind == "local" else 2)
        found = await api.get(TRAINING_JOBS, "flights", namespace)
        assert found["status"]["outcome"]["outcome"] == "done"

    assert play(cluster, namespace, Succeed(), scenario).record.violations() == []


def test_one_failed_pod_fails_the_gang(cluster: Cluster, namespace: str) -> None:
    async def scenario(api: Api, _: Simulators) -> None:
        job = await ended(api, namespace, "gang")
        failed = next(entry for entry in job["status"]["conditions"] if entry["type"] == "Failed")
        assert failed["reason"] == "BackoffLimitExceeded"
        pods = (await api.list(PODS, namespace)).items
        codes = [pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] for pod in pods]
        assert codes == [2], "the other pod was deleted"

    play(cluster, namespace, Fail(exit_code=2, after=0.2), scenario)


def test_ray_job_walks_kuberays_states(cluster: Cluster, namespace: str) -> None:
    walked: list[str] = []

    async def scenario(api: Api, simulators: Simulators) -> None:
        simulators.shared.ray_jobs.listeners.append(
            lambda _, seen: walked.append(str(seen.get("status", {}).get("jobDeploymentStatus", "")))
        )
        job = await ended(api, namespace, "ray")
        assert (job["status"]["jobStatus"], job["status"]["succeeded"]) == ("SUCCEEDED", 1)
        await until_gone(api, RAY_CLUSTERS, job["status"]["rayClusterName"], namespace)
        await until(lambda: _pods(api, namespace), lambda left: len(left) == 1, what="the end of the cluster's pods")
        [submitter] = await _pods(api, namespace)
        assert submitter["metadata"]["labels"]["batch.kubernetes.io/job-name"] == job["metadata"]["name"]

    record = play(cluster, namespace, Succeed(after=0.2), scenario).record
    assert list(dict.fromkeys(walked)) == ["", "Initializing", "Running", "Complete"]
    assert record.violations() == []
    assert [len(submitted) for submitted in record.submissions.values()] == [1]


def test_exit_code_of_the_entrypoint_stands_in_the_ray_jobs_message(cluster: Cluster, namespace: str) -> None:
    async def scenario(api: Api, _: Simulators) -> None:
        status = (await ended(api, namespace, "ray"))["status"]
        assert (status["jobStatus"], status["jobDeploymentStatus"], status["reason"]) == (
            "FAILED",
            "Failed",
            "AppFailed",
        )
        assert status["message"].startswith("Job entrypoint command failed with exit code 2, last available logs")
        assert status["message"].endswith("\nno such column")

    play(cluster, namespace, Fail(exit_code=2, log="no such column", reported_by="exit code"), scenario)


@pytest.mark.parametrize("script", [LoseHead(after=0.1), LoseNode(after=0.1), Preempt(after=0.1), Evict(after=0.1)])
def test_job_status_stays_running_when_the_head_is_lost(cluster: Cluster, namespace: str, script: Script) -> None:
    async def scenario(api: Api, _: Simulators) -> None:
        status = (await ended(api, namespace, "ray"))["status"]
        assert (status["jobStatus"], status["jobDeploymentStatus"], status["reason"]) == (
            "RUNNING",
            "Failed",
            "SubmissionFailed",
        )
        assert "BackoffLimitExceeded" in status["message"]

    play(cluster, namespace, script, scenario)


def test_pod_on_a_lost_node_stays_until_the_node_is_gone(cluster: Cluster, namespace: str) -> None:
    async def scenario(api: Api, simulators: Simulators) -> None:
        node = await simulators.nodes.add("one", gpus=1)
        resource, child = await started(api, namespace, "flights", "local")
        await until_object(
            api, resource, child, namespace, lambda job: condition(job, "FailureTarget") == "True", what="a target"
        )
        [pod] = await _pods(api, namespace)
        assert pod["spec"]["nodeName"] == node
        assert "deletionTimestamp" in pod["metadata"]
        assert not is_finished(await api.get(resource, child, namespace)), "it waits for the pod"
        await simulators.nodes.remove(node)
        await until_object(api, resource, child, namespace, is_finished)

    play(cluster, namespace, LoseNode(after=0.1), scenario)


def test_pods_of_a_preempted_job_say_why(cluster: Cluster, namespace: str) -> None:
    seen: list[Manifest] = []

    async def scenario(api: Api, simulators: Simulators) -> None:
        simulators.shared.pods.listeners.append(lambda _, pod: seen.append(pod))
        await ended(api, namespace, "local")

    play(cluster, namespace, Preempt(), scenario)
    [why] = [entry for entry in seen[-1]["status"]["conditions"] if entry["type"] == "DisruptionTarget"]
    assert why["reason"] == "PreemptionByScheduler"


def test_trainer_leaves_when_the_status_says_that_it_was_asked(cluster: Cluster, namespace: str) -> None:
    async def scenario(api: Api, _: Simulators) -> None:
        resource, child = await started(api, namespace, "flights", "ray")
        await until_object(
            api, resource, child, namespace, lambda job: job.get("status", {}).get("jobStatus") == "RUNNING"
        )
        asked = {"attempts": [{"number": 1, "child": child, "stopTime": "2026-01-01T00:00:00Z"}]}
        await api.patch_status(TRAINING_JOBS, "flights", namespace, asked)
        await until_object(api, resource, child, namespace, is_finished)
        found = await api.get(TRAINING_JOBS, "flights", namespace)
        assert found["status"]["outcome"]["outcome"] == "stopped"

    play(cluster, namespace, StopWhenAsked(), scenario)


@pytest.mark.parametrize("kind", ["local", "ray"])
def test_kueue_holds_admits_and_preempts_a_child(cluster: Cluster, namespace: str, kind: Kind) -> None:
    marks: list[bool] = []

    async def scenario(api: Api, simulators: Simulators) -> None:
        for mirror in (simulators.shared.jobs, simulators.shared.ray_jobs):
            mirror.listeners.append(lambda _, seen: marks.append(seen["spec"].get("suspend", False)))
        resource, child = await started(api, namespace, "flights", kind)
        await until_object(api, resource, child, namespace, lambda job: _is_preempted(job))
        await until(lambda: _pods(api, namespace), lambda pods: not pods, what="the end of all pods")

    play(cluster, namespace, RunForever(queued=0.3, preempted=1.0), scenario)
    assert [marks[0], *(b for a, b in pairwise(marks) if a != b)][:4] == [False, True, False, True]


def test_refused_ray_job_is_never_looked_at_again(cluster: Cluster, namespace: str) -> None:
    async def scenario(api: Api, _: Simulators) -> None:
        job = await ended(api, namespace, "ray")
        assert job["status"]["jobDeploymentStatus"] == "ValidationFailed"
        assert (await api.list(RAY_CLUSTERS, namespace)).items == []

    play(cluster, namespace, Invalid(), scenario)


def test_pod_without_room_waits_for_a_node(cluster: Cluster, namespace: str) -> None:
    async def scenario(api: Api, _: Simulators) -> None:
        await started(api, namespace, "flights", "local")
        [pod] = await until(
            lambda: _pods(api, namespace), lambda pods: condition(pods[0], "PodScheduled") if pods else ""
        )
        assert "nodeName" not in pod["spec"]

    play(cluster, namespace, NeverStart(), scenario)


def test_kuberays_finalizer_is_taken_off_when_the_ray_job_is_deleted(cluster: Cluster, namespace: str) -> None:
    async def scenario(api: Api, _: Simulators) -> None:
        resource, child = await started(api, namespace, "flights", "ray")
        job = await until_object(api, resource, child, namespace, lambda job: "finalizers" in job["metadata"])
        assert job["metadata"]["finalizers"] == ["ray.io/rayjob-finalizer"]
        await api.delete(TRAINING_JOBS, "flights", namespace, policy="Foreground")
        await until_gone(api, TRAINING_JOBS, "flights", namespace)
        assert (await api.list(RAY_JOBS, namespace)).items == []

    play(cluster, namespace, RunForever(), scenario, kuberay_finalizer=True)


def test_ray_jobs_without_pods_only_get_their_statuses(cluster: Cluster, namespace: str) -> None:
    async def scenario(api: Api, _: Simulators) -> None:
        job = await ended(api, namespace, "ray")
        assert job["status"]["jobStatus"] == "SUCCEEDED"
        assert await _pods(api, namespace) == []
        assert (await api.list(JOBS, namespace)).items == []

    play(cluster, namespace, Succeed(), scenario, pods=False)


async def _pods(api: Api, namespace: str) -> list[Manifest]:
    return (await api.list(PODS, namespace)).items


def _is_preempted(job: Manifest) -> bool:
    mark = job["metadata"].get("annotations", {}).get("simulators.trainwright.dev/queue")
    stopped = condition(job, "Suspended") == "True" or job.get("status", {}).get("jobDeploymentStatus") == "Suspended"
    return mark == "preempted" and stopped
