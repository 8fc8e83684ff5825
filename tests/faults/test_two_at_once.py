"""Two processes that use the same run or cache at the same time."""

from __future__ import annotations

MISTAKE = 2
ROUNDS = 4


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
