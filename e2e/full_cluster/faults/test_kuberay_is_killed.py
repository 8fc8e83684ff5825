"""The pod of KubeRay is killed: its successor adopts the cluster and submits nothing again."""

from __future__ import annotations

from testkit.full_cluster.training import STEPS, Done, Training

KUBERAY = "app.kubernetes.io/component=kuberay-operator"


def test_the_same_attempt_goes_on(training: Training, undisturbed: Done) -> None:
    training.until_step(STEPS // 3)
    before, first = training.running(), training.status()["child"]
    output_of = training.kubectl("delete", "pods", "-A", f"-l={KUBERAY}", "--grace-period=0", "--force")
    assert "deleted" in output_of
    training.until_step(STEPS * 2 // 3)
    assert training.running() == before
    training.finish_in_one_attempt(undisturbed)
    assert training.submissions(first) == 1
