"""On a stop signal, a run writes a checkpoint at its step, prints the resume command, and exits."""

from __future__ import annotations

import shlex
import signal
import subprocess

import pytest

STOPPED = 75


def stopped(run, number, *flags, updates=30):
    child = run.start(*flags)
    child.until(lambda: len(run.updates(child)) >= updates)
    child.send(number)
    return child


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGTERM])
def test_a_signal_leaves_a_checkpoint_of_the_very_step_and_the_way_to_go_on(place, lines, assert_same, number):
    run = place()
    child = stopped(run, number)
    assert child.wait() == STOPPED
    last = run.updates(child)[-1]["step"]
    assert run.checkpoints()[-1].name == f"{last:010d}-1"
    [line] = lines(child.errors)
    assert line.startswith(f"stopped by {number.name} at epoch ")
    assert run.outcome(1) == run.outcome(1) | {"class": "stopped", "exit_code": STOPPED, "line": line}
    run.finish("--resume")
    assert run.attempts()[1]["checkpoint"] == f"{last:010d}-1"
    assert_same(run)


def test_the_printed_command_works_as_it_stands(place, undisturbed, environment):
    run = place(lambda spec: spec["config"]["trainer"].update(later=1), run="a run with spaces & more")
    child = stopped(run, signal.SIGTERM, "--lenient")
    assert child.wait() == STOPPED
    command = child.errors.partition("Go on with: ")[2].strip()
    assert shlex.split(command)[0] == "trainwright"
    subprocess.run(command, shell=True, check=True, cwd=run.job.parent, env=environment, capture_output=True)
    assert run.attempts()[1]["checkpoint"] is not None
    assert run.rounds() == undisturbed.rounds()
    assert run.weights() == undisturbed.weights()


def test_a_second_interrupt_ends_at_once_and_harms_nothing(place, lines, assert_same):
    run = place()
    child = stopped(run, signal.SIGINT)
    child.send(signal.SIGINT)
    if child.wait() == STOPPED:  # it was quicker
        assert run.outcome(1)["class"] == "stopped"
    else:
        assert (child.returncode, lines(child.errors)) == (128 + signal.SIGINT, ["ended at once by SIGINT"])
        assert run.outcome(1) is None
    run.finish("--resume")
    assert_same(run)


def test_a_second_interrupt_does_not_wait_for_the_disk(place, lines):
    run = place()
    child = run.start()
    child.until(run.attempts)
    child.send(signal.SIGSTOP)
    child.send(signal.SIGINT)
    child.send(signal.SIGTERM)
    child.send(signal.SIGCONT)
    # Two threads can take the two pending signals at once, so either one is the second.
    second = signal.Signals(child.wait() - 128)
    assert second in (signal.SIGINT, signal.SIGTERM)
    assert lines(child.errors) == [f"ended at once by {second.name}"]
    assert run.outcome(1) is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_data_are_read_ends_at_once(place, lines, number):
    run = place(lambda spec: spec.update(dataset="many.csv"))
    rows, many = run.job.with_name("rows.csv"), run.job.with_name("many.csv")
    head, _, body = rows.read_text().partition("\n")
    many.write_text(f"{head}\n{body * 1000}")
    child = run.start()
    child.until(lambda: child.has_open(many))
    child.send(number)
    assert child.wait() == STOPPED
    [line] = lines(child.errors)
    assert line == f"stopped by {number.name} before training began: nothing was written but the cache. Start it again."
    assert not run.run.exists()
