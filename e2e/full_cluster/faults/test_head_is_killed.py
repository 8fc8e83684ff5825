"""The pod of the head, and with it the driver, is killed: the attempt ends and is not submitted again."""

from __future__ import annotations

from testkit.full_cluster.training import HEAD, STEPS, Done, Training


def test_the_next_attempt_goes_on_from_the_checkpoint(training: Training, undisturbed: Done) -> None:
    training.until_step(STEPS // 6)
    first = training.status()["child"]
    training.take(HEAD)
    training.finish_by_the_next_attempt(undisturbed)
    assert training.submissions(first) == 1
