"""Real Kueue as a pod of the node, with real pods of jobs: its webhooks suspend the children, its quotas admit them.

`make kueue` builds it. e2e/control_plane/test_kueue.py has more cases, with simulated pods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from testkit.cluster import kueue_objects
from testkit.cluster.kubectl import Kubectl
from testkit.cluster.kueue_objects import GPU, HIGH, LABEL, NO_LIMIT, PRIORITY, QUEUE, resources_of
from testkit.cluster.node import kueue
from testkit.cluster.node.cluster_folder import FIRST, ClusterFolder
from testkit.full_cluster import jobs, objects
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.objects import Object, one, several, until
from testkit.full_cluster.training import NAME, STEPS, Done, Training

URGENT = {"labels": {PRIORITY: HIGH}}
IMPATIENT = {"timeout": "20s", "recoveryTimeout": "60s", "requeuingStrategy": {"backoffBaseSeconds": 1}}
"""waitForPodsReady: Kueue takes back what it admitted if the pods are not ready in time."""
PLACE = "trainwright.dev/test"
"""A label of the node that one job waits for."""


@dataclass(frozen=True)
class Team:
    """A namespace with a queue, in which each pod of a small job counts as a tenth of a CPU."""

    full_cluster: FullCluster
    namespace: str
    bucket: Bucket

    def has_quota(self, quota: Mapping[str, str]) -> None:
        wanted = (kueue_objects.cluster_queue(self.namespace, quota), kueue_objects.local_queue(self.namespace))
        jobs.apply(self.full_cluster.kubectl, self.namespace, *wanted)

    def submits(self, job: dict[str, Any], **spec: Any) -> None:
        job["spec"] |= {"queueName": QUEUE, **spec}
        jobs.apply(self.full_cluster.kubectl, self.namespace, job)

    def sees(self, name: str, what: str, holds: Callable[[Mapping[str, Any]], object]) -> Mapping[str, Any]:
        """Wait until `holds` is true of the status of the job. The operator looks for Kueue once a minute."""
        return until(lambda: self._status(name), holds, seconds=180, what=f"{what} of {name}")

    def sees_phase(self, name: str, phase: str) -> Mapping[str, Any]:
        return self.sees(name, phase, lambda status: status.get("phase") == phase)

    def sees_reason(self, name: str, text: str) -> Mapping[str, Any]:
        """Wait until the job is in its queue, with this text of Kueue's in its message."""
        return self.sees(name, text, lambda seen: seen.get("phase") == "Queued" and text in seen.get("message", ""))

    def workloads(self) -> Mapping[str, Object]:
        """By the kind and the name of the child."""
        found = several(self.full_cluster.kubectl, self.namespace, "workloads")
        return {"{kind}/{name}".format(**each["metadata"]["ownerReferences"][0]): each for each in found}

    def _status(self, name: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = one(self.full_cluster.kubectl, self.namespace, "tj", name).get("status", {})
        return found


@pytest.fixture(scope="module")
def queues(operator: FullCluster, inside: ClusterFolder) -> Iterator[FullCluster]:
    """The cluster with Kueue. At the end, it waits until the jobs of the tests are gone."""
    kubectl = operator.kubectl
    with kueue.installed(kubectl, inside):
        jobs.apply(kubectl, "default", kueue_objects.flavor(), kueue_objects.priority())
        yield operator
        until(lambda: names_of_workloads(kubectl), lambda left: not left, seconds=180, what="the end of all Workloads")


@pytest.fixture
def team(queues: FullCluster, namespace: str, bucket: Bucket) -> Team:
    made = Team(queues, namespace, bucket)
    jobs.apply(queues.kubectl, namespace, jobs.keys(queues))
    made.has_quota(NO_LIMIT)
    return made


def test_a_job_waits_for_the_quota_of_another(team: Team) -> None:
    kubectl, namespace = team.full_cluster.kubectl, team.namespace
    team.has_quota({"cpu": "100m"})
    team.submits(jobs.endless("first", team.bucket))
    first = team.sees_phase("first", "Running")["child"]
    team.submits(jobs.weather("second", team.bucket))
    waits = team.sees_reason("second", "insufficient unused quota for cpu in flavor any, 100m more needed")
    child = one(kubectl, namespace, "job", waits["child"])
    assert (child["spec"]["suspend"], several(kubectl, namespace, "pods", f"job-name={waits['child']}")) == (True, [])
    assert waits["message"].startswith(f"Job {waits['child']} waits in its queue: ")
    refused = kubectl.run("label", f"-n={namespace}", f"job/{first}", f"{LABEL}=other", "--overwrite")
    assert "admission webhook" in refused.stderr, "Kueue's webhook guards the queue of a job that runs"
    kubectl("delete", f"-n={namespace}", "tj", "first")
    done = team.sees_phase("second", "Complete")
    assert [attempt["outcome"] for attempt in done["attempts"]] == ["done"]


def test_a_job_of_a_higher_class_preempts_one_on_ray(team: Team, new_training: Training, undisturbed: Done) -> None:
    """KubeRay removes the cluster of the suspended RayJob. The next attempt resumes from a checkpoint."""
    team.has_quota({"cpu": "1"})
    new_training.start({"queueName": QUEUE})
    new_training.until_step(STEPS // 3)
    [(_, workload)] = team.workloads().items()
    assert sorted(pods["name"] for pods in workload["spec"]["podSets"])[:1] == ["head"]
    urgent = jobs.weather("urgent", team.bucket)
    whole = {"resources": {"requests": {"cpu": "1", "memory": "512Mi"}}}
    team.submits(urgent, childMetadata=URGENT, podTemplate=whole)
    assert team.sees_phase("urgent", "Complete")["attempt"] == 1
    new_training.finish_from_a_checkpoint(undisturbed, "preempted", "done")
    first = new_training.attempts()[0]
    assert first["reason"] == "Requeued"
    assert "Preempted to accommodate a workload" in first["message"]
    assert (new_training.status()["preemptions"], new_training.status().get("retries")) == (1, None)
    assert len({name for name in team.workloads() if NAME in name}) == 1, "the first attempt has left its Workload"


def test_two_stages_are_two_workloads(team: Team) -> None:
    """The first one asks for no GPU, so it runs while the queue has none. The node only reports its GPU."""
    team.has_quota({"cpu": "0", GPU: "0"})
    with objects.given(team.full_cluster, {GPU: "1"}):
        limited = {"resources": {"requests": {"cpu": "100m", "memory": "512Mi"}, "limits": {GPU: "1"}}}
        team.submits(jobs.weather("staged", team.bucket), podTemplate=limited)
        stage = team.sees_reason("staged", "for cpu in flavor any")
        first = team.workloads()[f"Job/{stage['child']}"]
        team.has_quota({GPU: "0"})
        waits = team.sees_reason("staged", "insufficient quota for nvidia.com/gpu")
        second = team.workloads()[f"Job/{waits['child']}"]
        assert waits["preprocessed"]["child"] == stage["child"] != waits["child"]
        assert [GPU in resources_of(workload) for workload in (first, second)] == [False, True]
        team.has_quota({GPU: "1"})
        done = team.sees_phase("staged", "Complete")
    assert (done["attempt"], done.get("preemptions")) == (1, None)


def test_a_job_whose_pods_are_not_ready_in_time_is_queued_again(team: Team) -> None:
    """No node has the label that it asks for. It has not started, so it stays the same attempt and the same child."""
    kubectl = team.full_cluster.kubectl
    kueue.configure(kubectl, waitForPodsReady=IMPATIENT)
    try:
        job = jobs.weather("patient", team.bucket)
        team.submits(job, podTemplate={**job["spec"]["podTemplate"], "nodeSelector": {PLACE: team.namespace}})
        waits = team.sees_reason("patient", "Exceeded the PodsReady timeout")
        kubectl("label", "node", FIRST.name, f"{PLACE}={team.namespace}")
        done = team.sees_phase("patient", "Complete")
    finally:
        kubectl("label", "node", FIRST.name, f"{PLACE}-")
        kueue.configure(kubectl)
    assert (done["attempt"], done["child"], done.get("preemptions")) == (1, waits["child"], None)


def names_of_workloads(kubectl: Kubectl) -> str:
    return kubectl("get", "workloads", "--all-namespaces", "-o=name")
