"""Both pods of the operator are killed: training continues, and their successors create nothing again."""

from __future__ import annotations

from testkit.full_cluster.training import STEPS, Done, Training


def test_the_same_attempt_goes_on(training: Training, undisturbed: Done) -> None:
    training.until_step(STEPS // 3)
    before = training.running()
    training.kubectl("delete", "-n=trainwright", "pods", "--all", "--grace-period=0", "--force")
    training.until_step(STEPS * 2 // 3)
    assert training.running() == before
    training.finish_in_one_attempt(undisturbed)
