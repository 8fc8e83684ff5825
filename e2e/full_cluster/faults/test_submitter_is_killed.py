"""The pod of the submitter is killed: KubeRay fails the RayJob, so the attempt ends."""

from __future__ import annotations

from testkit.full_cluster.training import STEPS, SUBMITTER, Done, Training


def test_the_next_attempt_goes_on_from_the_checkpoint(training: Training, undisturbed: Done) -> None:
    training.until_step(STEPS // 6)
    first = training.status()["child"]
    training.take(SUBMITTER)
    training.finish_by_the_next_attempt(undisturbed)
    assert training.submissions(first) == 1
