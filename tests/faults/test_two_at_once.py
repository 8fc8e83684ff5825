"""Two processes that use the same run or cache at the same time."""

from __future__ import annotations

import json

import pytest

MISTAKE, ENVIRONMENT = 2, 3
ROUNDS = 2


def short(spec):
    spec["config"]["trainer"].update(train_steps=8)


def test_one_of_two_begins_the_run_and_the_other_is_reported(place, lines, tmp_path):
    for number in range(ROUNDS):
        run = place(short, run=tmp_path / f"run-{number}")
        both = [run.start(), run.start()]
        winner, loser = sorted(both, key=lambda child: child.wait())
        assert (winner.returncode, loser.returncode) == (0, MISTAKE), loser.errors
        [line] = lines(loser.errors)
        assert "another process has just begun attempt 1" in line or "holds another run" in line
        assert len(run.attempts()) == 1
        assert run.outcome(1)["class"] == "done"
        assert not run.updates(loser)


def test_two_that_go_on_with_one_run_end_with_its_model(halted, undisturbed, lines):
    both = [halted.start("--resume"), halted.start("--resume")]
    codes = [child.wait() for child in both]
    assert set(codes) <= {0, MISTAKE}
    assert 0 in codes
    assert all(len(lines(child.errors)) == (child.returncode == MISTAKE) for child in both)
    assert halted.weights() == undisturbed.weights()
    assert halted.rounds() == undisturbed.rounds()


@pytest.mark.parametrize("flag", ["--resume", "--overwrite"])
def test_a_run_that_another_process_trains_is_not_taken_over(place, lines, undisturbed, flag):
    run = place()
    child = run.start()
    child.until(lambda: len(run.updates(child)) >= 5)
    other = run.start(flag)
    assert other.wait() == MISTAKE
    [line] = lines(other.errors)
    assert line.endswith(f"runs on this machine as process {child.pid}. Stop it first, or give another --output.")
    assert child.wait() == 0, child.errors
    assert len(run.attempts()) == 1
    assert run.weights() == undisturbed.weights()


def test_a_run_that_another_machine_has_taken_over_ends_without_a_model(place, lines):
    run = place()
    child = run.start()
    child.until(lambda: len(run.updates(child)) >= 5)
    [start] = run.attempts()
    (run.run / "attempts/2").mkdir()
    (run.run / "attempts/2/start.json").write_text(json.dumps({**start, "attempt": 2, "host": "elsewhere"}))
    assert child.wait() == ENVIRONMENT
    [line] = lines(child.errors)
    assert line.endswith(": attempt 1 was replaced by a newer one while it ran: its model is not written")
    assert run.outcome(1)["class"] == "environment"
    assert "done in" not in child.output
    assert not (run.run / "model").exists()


def test_two_that_fill_one_cache_both_finish_with_equal_weights(place, tmp_path):
    for number in range(ROUNDS):
        cache = f"cache-{number}"

        def change(spec, cache=cache):
            short(spec)
            spec["backend"].update(cache_dir=cache)

        runs = [place(change, run=tmp_path / f"run-{number}-{name}") for name in "ab"]
        children = [run.start() for run in runs]
        assert [child.wait() for child in children] == [0, 0], children[0].errors + children[1].errors
        assert runs[0].weights() == runs[1].weights()
        assert not list((tmp_path / cache).rglob(".*"))
