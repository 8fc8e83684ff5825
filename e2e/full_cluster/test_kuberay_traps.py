"""Reports of KubeRay that are misleading, as far as they occur without training."""

from __future__ import annotations

from collections.abc import Sequence

from testkit.cluster.kubectl import Kubectl
from testkit.full_cluster import jobs
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.objects import Object, condition, one, several, until

NAME = "refused"
INVALID = '{"spec": {"backoffLimit": -1}}'
"""A RayJob that is created directly, because our webhook refuses such a job. KubeRay never handles it again."""


def test_a_ray_job_that_kuberay_refuses_has_failed_and_leaves_no_pods(
    operator: FullCluster, namespace: str, bucket: Bucket
) -> None:
    kubectl = operator.kubectl
    job = jobs.on_ray(NAME, bucket)
    job["spec"]["backoffLimit"] = 1
    jobs.apply(kubectl, namespace, jobs.keys(operator), job)

    _refuse(kubectl, namespace, attempt=1)
    until(
        lambda: one(kubectl, namespace, "tj", NAME),
        lambda seen: condition(seen, "Running").get("reason") == "WaitingForPods",
        what="the end of the first attempt",
    )
    # The cluster's object goes at once. Its pods leave when they like, and share the run folder with the next.
    until(lambda: several(kubectl, namespace, "rayclusters"), lambda left: not left, what="the end of the cluster")
    assert _pods(kubectl, namespace, 1)
    assert several(kubectl, namespace, "rayjobs") == []
    assert one(kubectl, namespace, "tj", NAME)["status"]["attempt"] == 1
    kubectl("delete", f"-n={namespace}", "pods", "--all", "--grace-period=0", "--force")

    _refuse(kubectl, namespace, attempt=2)
    status = jobs.ended(kubectl, namespace, NAME)
    assert status["phase"] == "Failed"
    ends = [(attempt["outcome"], attempt["reason"]) for attempt in status["attempts"]]
    assert ends == [("infrastructure", "ValidationFailed")] * 2
    assert "backoffLimit" in status["message"]
    until(
        lambda: several(kubectl, namespace, "rayjobs,rayclusters"),
        lambda left: not left,
        what="the end of the cluster that KubeRay has forgotten",
    )


def _refuse(kubectl: Kubectl, namespace: str, attempt: int) -> None:
    """Wait until its pods exist."""
    until(lambda: _pods(kubectl, namespace, attempt), lambda pods: len(pods) == 3, what="head and workers")
    [made] = several(kubectl, namespace, "rayjobs", f"trainwright.dev/attempt={attempt}")
    kubectl("patch", f"-n={namespace}", "rayjob", made["metadata"]["name"], "--type=merge", f"-p={INVALID}")


def _pods(kubectl: Kubectl, namespace: str, attempt: int) -> Sequence[Object]:
    """Return the pods that run or are pending."""
    found = several(kubectl, namespace, "pods", f"trainwright.dev/attempt={attempt}")
    return [pod for pod in found if pod["spec"].get("nodeName") and pod["status"]["phase"] in ("Pending", "Running")]
