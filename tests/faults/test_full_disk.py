"""On a full disk a checkpoint is skipped and logged. Only a model that cannot be written ends the run."""

from __future__ import annotations

import signal

import pytest

ENVIRONMENT = 3
# The model of the hard job takes 1.1 MB, and a checkpoint three to four times as much.
FOR_A_MODEL, FOR_NO_MODEL = 3 << 20, 1 << 20
REASONS = ("the disk is full", "the file would be larger than the limit for files")


@pytest.fixture(params=["disk", "limit"])
def full(request, small_disk, tmp_path):
    """A folder for a run with a size limit in bytes, and the limits of the process."""

    def make(size):
        return small_disk(size) if request.param == "disk" else (tmp_path, {"FSIZE": size})

    return make


def test_training_goes_on_without_its_checkpoints(place, full, lines, assert_same):
    folder, limits = full(FOR_A_MODEL)
    run = place(run=folder / "run")
    child = run.start(limits=limits)
    assert child.wait() == 0, child.errors
    failures = [line for line in lines(child.output) if "could not be written" in line]
    assert failures
    assert all(line.startswith("checkpoint 0000000") and line.endswith(REASONS) for line in failures)
    assert child.errors == ""
    assert not run.checkpoints()
    assert run.outcome(1)["class"] == "done"
    assert_same(run)


def test_a_model_that_cannot_be_written_ends_the_run_in_one_line(place, full, lines):
    folder, limits = full(FOR_NO_MODEL)
    run = place(lambda spec: spec["config"]["trainer"].update(train_steps=20), run=folder / "run")
    child = run.start(limits=limits)
    assert child.wait() == ENVIRONMENT
    [line] = lines(child.errors)
    assert line.endswith(REASONS)
    assert str(run.run / "model") in line
    assert run.outcome(1) == run.outcome(1) | {"class": "environment", "exit_code": ENVIRONMENT, "line": line}
    assert not (run.run / "model/model.json").exists()


def test_a_stop_whose_checkpoint_cannot_be_written_is_no_stop(place, full, lines):
    folder, limits = full(FOR_A_MODEL)
    run = place(run=folder / "run")
    child = run.start(limits=limits)
    child.until(lambda: len(run.updates(child)) > 20)
    child.send(signal.SIGTERM)
    assert child.wait() == ENVIRONMENT
    [line] = lines(child.errors)
    assert line.endswith(REASONS)
    assert run.outcome(1)["class"] == "environment"


def test_a_disk_with_no_room_at_all_ends_the_run_in_one_line(place, small_disk, lines):
    folder, limits = small_disk(4096)
    run = place(run=folder / "run")
    child = run.start(limits=limits or {"FSIZE": 1000})
    assert child.wait() == ENVIRONMENT
    [line] = lines(child.errors)
    assert line.endswith(REASONS)
