"""The submitter's pod is gone at once: KubeRay gives the RayJob up, and so ends the attempt."""

from __future__ import annotations

from testkit.full_cluster.training import STEPS, SUBMITTER, Done, Training


def test_the_next_attempt_goes_on_from_the_checkpoint(training: Training, undisturbed: Done) -> None:
    training.until_step(STEPS // 6)
    first = training.status()["child"]
    training.take(SUBMITTER)
    training.finish_by_the_next_attempt(undisturbed)
    assert training.submissions(first) == 1
