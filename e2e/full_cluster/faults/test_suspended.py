"""A user suspends a job: it writes a checkpoint, leaves nothing running, and continues from there after the resume."""

from __future__ import annotations

import json

from testkit.full_cluster.training import EPOCHS, NAME, STEPS, Done, Training

ALL = "trainwright.dev/job-name"


def test_it_goes_on_no_earlier_than_where_it_was_shown_to_be(training: Training, undisturbed: Done) -> None:
    training.until_step(STEPS // 3)
    training.until(lambda: training.status()["progress"].get("fraction"), 30, "the progress")
    shown = training.status()["progress"]["fraction"] * EPOCHS * len(undisturbed.epochs[0])
    _suspend(training, True)
    training.kubectl("wait", f"-n={training.namespace}", f"tj/{NAME}", "--for=condition=Suspended", "--timeout=150s")
    training.until(lambda: training.pods(ALL) == {}, 10, "the end of its pods")
    _suspend(training, False)
    training.finish_from_a_checkpoint(undisturbed, "stopped", "done")
    assert training.attempts()[-1]["position"] >= shown > 0


def _suspend(training: Training, wanted: bool) -> None:
    change = json.dumps({"spec": {"suspend": wanted}})
    training.kubectl("patch", f"-n={training.namespace}", "tj", NAME, "--type=merge", f"--patch={change}")
