"""A NaN loss ends the run at its step. The checkpoints before it stay."""

from __future__ import annotations

MISTAKE = 2


def explode(spec):
    spec["config"]["trainer"].update(learning_rate=1e30, steps_per_checkpoint=1)


def test_it_names_the_step_and_keeps_the_last_good_checkpoint(place, lines):
    run = place(explode)
    child = run.start()
    assert child.wait() == MISTAKE
    [line] = lines(child.errors)
    last = run.updates(child)[-1]["step"]
    assert f"the loss is not a number at step {last + 1} (epoch 1)" in line
    assert run.checkpoints()[-1].name == f"{last:010d}-1"
    assert run.outcome(1) == run.outcome(1) | {"class": "mistake", "exit_code": MISTAKE}
    assert not (run.run / "model").exists()


def test_the_kept_checkpoint_is_whole_and_leads_to_the_same_end(place):
    run = place(explode)
    first = run.start()
    assert first.wait() == MISTAKE
    again = run.start("--resume")
    assert again.wait() == MISTAKE
    assert run.attempts()[1]["checkpoint"] == run.checkpoints()[-1].name
    assert "damaged" not in again.output
    assert again.errors == first.errors
