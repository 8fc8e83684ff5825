"""Several processes with the variables of torchrun, forked without it: mistakes, signals, kills and differences."""

from __future__ import annotations

import json
import shutil
import signal
import socket

import pytest

STOPPED, ENVIRONMENT, MISTAKE = 75, 3, 2


def small(spec):
    """Eighty steps of a small model, with one curve on any number of processes."""
    spec["config"]["combiner"] = {"type": "concat", "num_fc_layers": 1, "output_size": 8, "norm": "batch"}
    spec["config"]["trainer"] |= {"effective_batch_size": 32, "precision": "float64", "train_steps": 80}
    spec["checkpoint"] = {"numToKeep": 2, "everySeconds": 0.2}


class Launched:
    """The processes of one launch, by rank."""

    def __init__(self, place, world=2, *flags, folders=None, around=None, absent=()):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        shared = {"WORLD_SIZE": world, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "LOCAL_WORLD_SIZE": world}
        self.ranks = []
        for rank in range(world):
            if rank in absent:
                continue
            variables = {**shared, "RANK": rank, "LOCAL_RANK": rank, **(around or {})}
            folder = folders[rank] if folders else place.job.parent
            log = {"TRAINWRIGHT_ROW_LOG": str(place.job.with_name(f"rows-{rank}"))}
            child = place.driver.start(
                folder,
                *("train", place.job.name, "--output", place.output or place.run, *flags),
                environment={**{name: str(value) for name, value in variables.items()}, **log},
            )
            self.ranks.append(child)

    def until_steps(self, place, steps):
        log = place.job.with_name("rows-0")
        self.ranks[0].until(lambda: log.exists() and log.read_text().count("\n") >= steps)

    def codes(self):
        return [child.wait() for child in self.ranks]

    def line(self):
        """The one line that all of them print on the standard error."""
        [line] = [line for child in self.ranks for line in child.errors.splitlines() if line.strip()]
        return line


@pytest.fixture(scope="module")
def on_two(driver, tmp_path_factory):
    """The small job, trained by two processes without a fault."""
    from .conftest import written

    run = written(driver, tmp_path_factory.mktemp("on_two"), small)
    assert Launched(run, 2).codes() == [0, 0]
    return run


def losses(run):
    rounds = json.loads((run.run / "metrics.json").read_text())["rounds"]
    return [scores["combined"]["loss"] for one in rounds for scores in one["scores"].values()]


def test_the_curve_is_that_of_one_process(place, on_two):
    alone = place(small, run="alone")
    alone.finish()
    assert len(losses(alone)) > 10
    assert losses(on_two) == pytest.approx(losses(alone), rel=1e-9, abs=1e-9)
    run = place(small)
    on_three = Launched(run, 3)
    assert on_three.codes() == [0, 0, 0]
    assert losses(run) == pytest.approx(losses(alone), rel=1e-9, abs=1e-9)
    assert on_three.ranks[0].output.startswith("job.yaml: torchrun has started 3 processes: strategy ddp\n")
    assert [child.output for child in on_three.ranks[1:]] == ["", ""]


@pytest.mark.parametrize("signalled", [(0, 1), pytest.param((1,), marks=pytest.mark.slow)])
def test_a_signal_stops_all_with_a_checkpoint(place, on_two, signalled):
    run = place(small)
    first = Launched(run)
    first.until_steps(run, 30)
    for rank in signalled:
        first.ranks[rank].send(signal.SIGTERM)
    assert first.codes() == [STOPPED, STOPPED]
    line = first.line()
    assert line.startswith("stopped by SIGTERM")
    assert line.endswith(f"Go on with: torchrun … trainwright train job.yaml --output {run.run} --resume")
    assert run.outcome(1)["class"] == "stopped"
    assert Launched(run, 2, "--resume").codes() == [0, 0]
    assert run.weights() == on_two.weights()
    assert run.rounds() == on_two.rounds()


@pytest.mark.parametrize("killed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_killed_rank_ends_the_others(place, on_two, killed):
    run = place(small)
    first = Launched(run)
    first.until_steps(run, 30)
    first.ranks[killed].kill()
    assert first.codes()[1 - killed] == ENVIRONMENT
    if killed == 1:
        assert first.line() == "another process of this training is gone. --resume goes on from the newest checkpoint"
        assert run.outcome(1)["class"] == "environment"
    assert Launched(run, 2, "--resume").codes() == [0, 0]
    assert run.weights() == on_two.weights()


def test_a_mistake_in_the_file_is_printed_once(place):
    run = place(lambda spec: spec["config"]["trainer"].update(epoch=3))
    launched = Launched(run)
    assert launched.codes() == [MISTAKE, MISTAKE]
    assert launched.ranks[1].errors == ""
    assert "config.trainer.epoch" in launched.ranks[0].errors
    assert not run.run.exists()


def test_a_mistake_in_the_data_is_printed_once(place):
    run = place(lambda spec: spec["config"]["input_features"].append({"name": "kind", "type": "vector"}))
    launched = Launched(run)
    assert launched.codes() == [MISTAKE, MISTAKE]
    assert launched.ranks[1].errors == ""
    assert launched.ranks[0].errors.startswith("job.yaml: ")


def test_a_run_that_exists_is_kept(on_two):
    launched = Launched(on_two)
    assert launched.codes() == [MISTAKE, MISTAKE]
    assert " holds another run " in launched.line()
    done = Launched(on_two, 2, "--resume")
    assert done.codes() == [0, 0]
    assert "hard is done" in done.ranks[0].output


def test_a_rank_that_does_not_join(place):
    launched = Launched(place(small), 3, around={"TRAINWRIGHT_JOIN_SECONDS": "1"}, absent=(1,))
    assert launched.codes() == [ENVIRONMENT, ENVIRONMENT]
    assert launched.line() == "rank 1 did not join within 1 s: see its output"


def test_a_port_in_use(place):
    with socket.create_server(("0.0.0.0", 0)) as taken:
        port = taken.getsockname()[1]
        launched = Launched(place(small), 2, around={"MASTER_PORT": str(port)}, absent=(1,))
        assert launched.codes() == [MISTAKE]
    found = f"port {port} of 127.0.0.1 is in use, perhaps by another training: set MASTER_PORT to a free port"
    assert launched.line() == f"job.yaml: MASTER_PORT: {found}"


def copied(run, tmp_path, change):
    """The folder of the job for rank 0, and a copy that `change` changes for rank 1."""
    other = tmp_path / "other"
    other.mkdir()
    for name in ("job.yaml", "rows.csv"):
        shutil.copy(run.job.with_name(name), other)
    change(other)
    return [run.job.parent, other]


def append(name, text):
    def change(folder):
        with (folder / name).open("a") as file:
            file.write(text)

    return change


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda folder: (folder / "job.yaml").unlink(), "job.yaml: cannot be read: No such file or directory (rank 1)"),
        (append("job.yaml", "# the same\n"), None),
        (append("rows.csv", "0.5,yes,a,no\n"), "dataset: rank 1 sees other data than rank 0"),
    ],
    ids=["no file", "a comment", "other data"],
)
def test_what_another_machine_sees(place, tmp_path, change, line):
    run = place(lambda spec: (small(spec), spec["config"]["trainer"].update(train_steps=3)))
    launched = Launched(run, folders=copied(run, tmp_path, change))
    if line is None:
        assert launched.codes() == [0, 0]
    else:
        assert launched.codes() == [MISTAKE, MISTAKE]
        assert line in launched.line()


def test_another_option_on_another_machine(place, tmp_path):
    run = place(small)

    def change(folder):
        (folder / "job.yaml").write_text(
            (folder / "job.yaml").read_text().replace("train_steps: 80", "train_steps: 81")
        )

    launched = Launched(run, folders=copied(run, tmp_path, change))
    assert launched.codes() == [MISTAKE, MISTAKE]
    assert launched.line().startswith("job.yaml: rank 1 (")
    assert " sees another file, or other options, than rank 0 (" in launched.line()


def test_a_run_folder_that_is_not_shared(place, tmp_path):
    run = place(small)
    run.output = "run"
    launched = Launched(run, folders=copied(run, tmp_path, lambda _: None))
    assert launched.codes() == [MISTAKE, MISTAKE]
    assert "output: run is not the same folder for rank 1 as for rank 0" in launched.line()
