"""After SIGKILL or SIGTERM, a search goes on: the same trials, scores and weights as without the signal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

LONGEST = 600.0
SEARCH: dict[str, Any] = {
    "output_feature": "late",
    "metric": "loss",
    "search_alg": "optuna",
    "parameters": {
        "trainer.learning_rate": {"space": "loguniform", "lower": 0.0001, "upper": 0.1},
        "combiner.num_fc_layers": {"space": "randint", "lower": 0, "upper": 3},
    },
}

SCHEDULERS: dict[str, dict[str, Any]] = {
    "asha": {"max_t": 4, "reduction_factor": 2},
    "hyperband": {"max_t": 4, "reduction_factor": 2},
    "median_stopping_rule": {"time_attr": "training_iteration", "grace_period": 1, "min_samples_required": 1},
}


def start(workplace: Any, output: str, *more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "trainwright_trainer", "hyperopt", "job.yaml", "--output", output, *more]
    with (workplace.folder / f"{output}.log").open("ab") as log:
        return subprocess.Popen(command, cwd=workplace.folder, stdout=log, stderr=log, env=dict(os.environ))


def finished(workplace: Any, output: str, *more: str) -> None:
    child = start(workplace, output, *more)
    assert child.wait(LONGEST) == 0, (workplace.folder / f"{output}.log").read_text()


def trials(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((folder / "search" / "trials").glob("*.json"))]


def killed_in_a_trial(
    workplace: Any, output: str, after: int, *more: str, by: signal.Signals = signal.SIGKILL, code: int = -9
) -> str:
    """A signal when `after` trials have ended and the next one has a checkpoint. Returns its name."""
    child, folder = start(workplace, output, *more), workplace.folder / output
    name = f"{after + 1:04d}"
    until = time.monotonic() + LONGEST
    while not list((folder / "trials" / name / "checkpoints").glob("*/manifest.json")):
        assert child.poll() is None, (workplace.folder / f"{output}.log").read_text()
        assert time.monotonic() < until
    child.send_signal(by)
    assert child.wait() == code
    return name


def scores(folder: Path) -> list[Any]:
    """What a kill must not change: not the times, not the order of events in the file."""
    return [
        (one["id"], one["values"], one["end"]["kind"], [(score["step"], score["value"]) for score in one["scores"]])
        for one in trials(folder)
    ]


@pytest.fixture
def search(workplace: Any) -> Any:
    """Writes a job with a search of this scheduler and so many trials, one at a time."""

    def new(scheduler: str, samples: int) -> Any:
        def change(whole: dict[str, Any]) -> None:
            whole["config"]["trainer"]["epochs"] = 4
            own = {"type": scheduler, **SCHEDULERS[scheduler]}
            executor = {"num_samples": samples, "max_concurrent_trials": 1, "scheduler": own}
            whole["config"]["hyperopt"] = {**SEARCH, "executor": executor}

        workplace.job(change)
        return workplace

    return new


@pytest.mark.slow
def test_a_search_that_is_suspended_goes_on_as_if_it_was_not(search: Any) -> None:
    """SIGTERM, as a pod gets it: the trial in its middle writes a checkpoint, and the process asks to go on."""
    job = search("asha", 3)
    finished(job, "whole")
    whole, stopped = job.folder / "whole", job.folder / "stopped"
    name = killed_in_a_trial(job, "stopped", 1, by=signal.SIGTERM, code=75)
    first, second = trials(stopped)
    assert (first["end"] is None, second["end"], second["id"]) == (False, None, name)
    command = "Go on with: trainwright hyperopt job.yaml --output stopped --resume"
    assert command in (job.folder / "stopped.log").read_text()
    finished(job, "stopped", "--resume")
    assert scores(stopped) == scores(whole)
    assert trials(stopped)[0] == first
    assert json.loads((stopped / "hyperopt.json").read_text()) == json.loads((whole / "hyperopt.json").read_text())


PERTURBED = {"trainer.learning_rate": SEARCH["parameters"]["trainer.learning_rate"]}
PBT = {
    "type": "pbt",
    "time_attr": "training_iteration",
    "perturbation_interval": 1,
    "burn_in_period": 0,
    "hyperparam_mutations": PERTURBED,
}


def population(whole: dict[str, Any], *, synch: bool) -> None:
    whole["config"]["trainer"]["epochs"] = 4
    executor = {"num_samples": 4, "max_concurrent_trials": 1, "scheduler": {**PBT, "synch": synch}}
    whole["config"]["hyperopt"] = {**SEARCH, "search_alg": "random", "parameters": PERTURBED, "executor": executor}


def origins(folder: Path) -> list[Any]:
    """The attempt in the name of a checkpoint may differ: its content does not."""
    found = [(one["id"], one["origin"]) for one in trials(folder) if one["origin"]]
    return [(name, {**origin, "checkpoint": origin["checkpoint"].partition("-")[0]}) for name, origin in found]


@pytest.mark.slow
@pytest.mark.parametrize("synch", [False, True])
def test_a_population_decides_the_same_as_without_the_kills(workplace: Any, synch: bool) -> None:
    workplace.job(lambda whole: population(whole, synch=synch))
    finished(workplace, "whole")
    for number, more in enumerate([(), ("--resume",), ("--resume",)]):
        killed_in_a_trial(workplace, "killed", 1 + 2 * number, *more)  # the last one begins in the place of another
    finished(workplace, "killed", "--resume")
    whole, killed = workplace.folder / "whole", workplace.folder / "killed"
    assert origins(killed) == origins(whole) != []
    assert scores(killed) == scores(whole)
    weights = "model/weights.safetensors"
    assert (killed / weights).read_bytes() == (whole / weights).read_bytes()
    assert json.loads((killed / "hyperopt.json").read_text()) == json.loads((whole / "hyperopt.json").read_text())


@pytest.mark.slow  # test_trial_killed.py kills a trial of the search in every run of the tests
@pytest.mark.parametrize(
    ("scheduler", "samples", "kills"), [("asha", 3, [1]), *((name, 5, [1, 3]) for name in SCHEDULERS)]
)
def test_it_decides_the_same_as_without_the_kills(search: Any, scheduler: str, samples: int, kills: list[int]) -> None:
    """A kill comes in the middle of the trial after so many."""
    job = search(scheduler, samples)
    finished(job, "whole")
    whole, killed = job.folder / "whole", job.folder / "killed"
    interrupted = {killed_in_a_trial(job, "killed", kills[0])}
    interrupted |= {killed_in_a_trial(job, "killed", after, "--resume") for after in kills[1:]}
    # Only now: hyperband pauses the first trials, so at the first kill none of them has ended.
    before = {one["id"]: one for one in trials(killed) if one["end"]}
    finished(job, "killed", "--resume")
    assert scores(killed) == scores(whole)
    assert before
    assert {one["id"]: one for one in trials(killed) if one["id"] in before} == before
    # The scheduler stops the best trial too. Then its run is completed in a second attempt.
    more_than_once = {*interrupted, json.loads((killed / "hyperopt.json").read_text())["best"]["trial"]}
    for trial in (killed / "trials").iterdir():
        is_paused = scheduler == "hyperband"  # a paused trial goes on in another attempt
        assert is_paused or len(list((trial / "attempts").iterdir())) == 1 or trial.name in more_than_once
    weights = "model/weights.safetensors"
    assert (killed / weights).read_bytes() == (whole / weights).read_bytes()
    assert json.loads((killed / "hyperopt.json").read_text()) == json.loads((whole / "hyperopt.json").read_text())
