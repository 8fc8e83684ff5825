"""All processes of a worker's pod are killed: Ray restarts the workers in the same attempt, with a new pod."""

from __future__ import annotations

from testkit.full_cluster.training import STEPS, WORKER, Done, Training


def test_the_attempt_goes_on_from_its_checkpoint(training: Training, undisturbed: Done) -> None:
    training.until_step(STEPS // 3)
    before = training.pods(WORKER)
    killed = training.crash(WORKER)
    training.until_step(STEPS * 2 // 3)
    after = training.pods(WORKER)
    assert len(after) == len(before) == 2
    assert set(before) - set(after) == {killed}
    training.finish_from_a_checkpoint(undisturbed, "done")
