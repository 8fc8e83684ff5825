"""After any number of SIGKILLs at any moment, a run ends with the same result as without them."""

from __future__ import annotations

import random

import pytest

from trainwright_trainer.rundir.record import read_run
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.tasks.compare import records

TOTAL = 400
EARLY, BETWEEN, WRITES = 5, 10, 5


def killed_early(run, draw):
    """Kill at a random moment of the first half second: while it reads, begins, or in the first steps."""
    child = run.go_on()
    child.poll(draw.uniform(0, 0.5))
    child.kill()


def killed_between(run, draw):
    """Kill up to 20 ms after a random number of updates."""
    child, updates = run.go_on(), draw.randint(1, 16)
    child.until(lambda: len(run.updates(child)) >= updates)
    child.poll(draw.uniform(0, 0.02))
    child.kill()


def killed_in_a_write(run, draw):
    """Kill while a checkpoint is written. True if its folder had no manifest right before the kill and after it."""
    child = run.go_on()
    child.until(lambda: run.being_written(run.attempts()[-1]["attempt"]) if run.attempts() else [])
    child.poll(draw.uniform(0, 0.003))
    before = run.being_written(run.attempts()[-1]["attempt"])
    child.kill()
    return bool(before) and before == run.being_written(run.attempts()[-1]["attempt"])


def chain(run, draw, early, between, writes):
    """Kill in random order. Kills in a write repeat until `writes` of them hit. Returns the number of kills."""
    kinds = ["early"] * early + ["between"] * between + ["write"] * writes
    draw.shuffle(kinds)
    met = 0
    for kind in kinds:
        if kind == "early":
            killed_early(run, draw)
        elif kind == "between":
            killed_between(run, draw)
        else:
            met += killed_in_a_write(run, draw)
    while met < writes:
        met += killed_in_a_write(run, draw)
    return len(run.children)


def end(run):
    """Run to the end. A kill never leaves a checkpoint that looks complete and is damaged."""
    child = run.go_on()
    assert child.wait() == 0, child.errors
    assert not [one for one in run.children if "damaged" in one.output]


def test_twenty_kills_change_nothing(place, assert_same):
    run = place()
    assert chain(run, random.Random(20), EARLY, BETWEEN, WRITES) >= 20
    end(run)
    assert_same(run)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_other_kills_change_nothing(place, assert_same, seed):
    run = place()
    assert chain(run, random.Random(seed), EARLY, BETWEEN, WRITES) >= 20
    end(run)
    assert_same(run)


def test_kills_after_the_last_update_leave_a_run_that_can_be_ended(place, assert_same):
    run, draw = place(), random.Random(1)
    child = run.start()
    child.until(lambda: len(run.updates(child)) == TOTAL)
    child.kill()
    for _ in range(3):
        child, attempt = run.go_on(), len(run.attempts()) + 1
        child.until(lambda attempt=attempt: len(run.attempts()) == attempt)
        child.poll(draw.uniform(0, 0.05))
        child.kill()
    end(run)
    assert_same(run)
    assert run.outcome(len(run.attempts()))["class"] == "done"


def test_a_killed_run_is_called_killed(place):
    """By `compare`, and where another run is in the way."""
    run = place()
    child = run.start()
    child.until((run.run / "metrics.json").exists)
    assert [one.state for one in records([str(run.run)])] == ["running"]
    child.kill()
    assert [one.state for one in records([str(run.run)])] == ["killed"]
    assert str(read_run(storage_at(str(run.run)))).endswith("ended: no, it was killed")
    end(run)
    assert [one.state for one in records([str(run.run)])] == ["done"]


def test_a_kill_before_the_first_attempt_leaves_a_free_place(place):
    run = place()
    run.start().kill()
    assert not run.attempts()
    assert not list(run.run.glob("*"))
