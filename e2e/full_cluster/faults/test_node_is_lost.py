"""The node of the workers fails: the next attempt resumes from the checkpoint on the remaining node."""

from __future__ import annotations

import json

from testkit.cluster.node import full_cluster as cluster
from testkit.cluster.node.cluster_folder import SECOND, ClusterFolder
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.jobs import NEAR_KUBERAY, preferred
from testkit.full_cluster.training import HEAD, STEPS, WORKER, Done, Training
from testkit.full_cluster.volume import Volume

# The head goes where KubeRay is, which is the first node, and its workers to the other. A required rule would keep the
# pods of a lost node pending.
APART = {"podAffinity": NEAR_KUBERAY, "podAntiAffinity": preferred(100, {"ray.io/node-type": "head"})}


def test_the_next_attempt_goes_on_from_the_checkpoint(
    place: ClusterFolder, operator: FullCluster, namespace: str, bucket: Bucket, volume: Volume, undisturbed: Done
) -> None:
    training = Training(operator, namespace, bucket, volume)
    with cluster.another(place) as second:
        training.start(affinity=APART)
        training.until(lambda: nodes(training, WORKER) == [SECOND.name] * 2, 120, "the workers on the second node")
        training.kubectl("cordon", SECOND.name)  # what follows the log stays on the first
        training.until_step(STEPS // 3)
        assert SECOND.name not in nodes(training, HEAD)
        second.kill()
        training.finish_from_a_checkpoint(undisturbed, "preempted", "done")
    assert training.attempts()[0]["reason"] == "DeletionByTaintManager"


def nodes(training: Training, role: str) -> list[str]:
    """The nodes of the pods with this label."""
    found = training.kubectl("get", f"-n={training.namespace}", "pods", f"-l={role}", "-o=json")
    return [pod["spec"].get("nodeName", "") for pod in json.loads(found)["items"]]
