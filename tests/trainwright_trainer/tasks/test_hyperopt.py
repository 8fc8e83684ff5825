"""The task hyperopt: what is refused before Ray starts, and a whole search as a process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from trainwright_trainer.search import setting
from trainwright_trainer.search.ray_tune import room

RATE = {"space": "choice", "categories": [0.001, 0.01]}
SEARCH = {"output_feature": "late", "metric": "loss", "parameters": {"trainer.learning_rate": RATE}}


@pytest.fixture
def search(workplace: Any) -> Any:
    """Writes a job with a section hyperopt, changed by the arguments, and returns its name."""

    def new(**changes: Any) -> str:
        def change(job: dict[str, Any]) -> None:
            job["config"]["hyperopt"] = {**SEARCH, "executor": {"num_samples": 2}, **changes}

        return workplace.job(change)

    return new


def program(workplace: Any, *arguments: str) -> str:
    """The output of a command that starts Ray."""
    command = [sys.executable, "-m", "trainwright_trainer", *arguments]
    done = subprocess.run(command, cwd=workplace.folder, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def are_equal(*runs: Path) -> bool:
    """True if the weights of the runs are the same, bit for bit."""
    return len({(run / "model" / "weights.safetensors").read_bytes() for run in runs}) == 1


def test_mistakes_are_lines_before_anything_starts(workplace, search):
    job = search(metric="los", parameters={"trainer.lerning_rate": RATE})
    lines = workplace.refused("hyperopt", job).splitlines()
    assert lines[0] == "job.yaml: 2 mistakes"
    assert "'los' is no metric of 'late'" in lines[1]
    assert lines[2].endswith("unknown path: did you mean 'learning_rate'?")
    assert workplace.refused("validate", job).splitlines() == lines


def test_a_file_without_the_section_is_refused(workplace):
    assert workplace.refused("hyperopt", workplace.job()) == (
        "job.yaml: config.hyperopt: missing: task hyperopt needs this section"
    )


def test_a_missing_package_is_a_line_before_anything_starts(workplace, search, monkeypatch):
    monkeypatch.setattr(setting, "find_spec", lambda _: None)
    assert workplace.refused("hyperopt", search(search_alg="optuna")) == (
        "job.yaml: config.hyperopt.search_alg.type: optuna is not installed here: pip install 'trainwright[hyperopt]'"
    )


@pytest.mark.parametrize(("kind", "asked"), [("cpu", 1000), ("gpu", 1)])
def test_resources_that_no_trial_gets_are_a_line_before_ray_starts(workplace, search, monkeypatch, kind, asked):
    monkeypatch.setenv("RAY_ADDRESS", "local")
    monkeypatch.setattr(room, "resources_here", lambda: {"CPU": 2, "GPU": 0})
    monkeypatch.setattr(room, "cluster", None)
    job = search(executor={"num_samples": 2, f"{kind}_resources_per_trial": asked})
    there = {"cpu": 2, "gpu": 0}[kind]
    assert workplace.refused("hyperopt", job) == (
        f"job.yaml: config.hyperopt.executor.{kind}_resources_per_trial: "
        f"a trial gets no {asked} {kind.upper()}s: there are {there}"
    )
    assert not (workplace.folder / "out").exists()


@pytest.mark.parametrize(("split", "shares"), [("validation", [0.9, 0, 0.1]), ("test", [0.8, 0.2, 0])])
def test_a_split_without_rows_is_a_line_before_ray_starts(workplace, split, shares):
    def change(job: dict[str, Any]) -> None:
        job["config"]["hyperopt"] = {**SEARCH, "split": split, "executor": {"num_samples": 2}}
        job["config"]["preprocessing"] = {"split": {"type": "random", "probabilities": shares}}

    line = f"config.hyperopt.split: there are no {split} rows, so no trial would have a score"
    assert line in workplace.refused("hyperopt", workplace.job(change))


def test_a_folder_without_a_search_has_none_to_go_on_with(workplace, search):
    assert "holds no search to go on with" in workplace.refused("hyperopt", search(), "--resume")


def test_train_ignores_the_section_with_one_line(workplace, search):
    plain = workplace.done("train", workplace.job(name="plain.yaml"), "--output", "plain")
    out = workplace.done("train", search(search_alg="hebo"), "--output", "with").out
    assert "job.yaml: config.hyperopt does not act with task train: trainwright hyperopt searches" in out
    assert "hyperopt" not in plain.out
    assert are_equal(workplace.folder / "plain", workplace.folder / "with")


def test_a_run_in_the_folder_is_refused(workplace, search):
    workplace.done("train", search(), "--output", "taken")
    assert "holds other things (attempts/, checkpoints/, job.yaml, …) and no search" in workplace.refused(
        "hyperopt", "job.yaml", "--output", "taken"
    )


def test_the_best_trial_is_the_model_and_a_trial_that_fails_stops_nothing(workplace, search):
    """One process for all that a search leaves, because Ray takes long to start."""
    parameters = {
        "combiner.type": {"space": "grid_search", "values": ["concat", "tabnet"]},
        "combiner.num_steps": {"space": "choice", "categories": [2]},
    }
    job = search(parameters=parameters, eval_split="test", executor={"num_samples": 1, "max_concurrent_trials": 1})
    events = [json.loads(line) for line in program(workplace, "hyperopt", job, "--json").splitlines()]
    ends = {event["trial"]: event for event in events if event["event"] == "trial" and event["state"] != "running"}
    assert ends["0001"]["line"].startswith("config.combiner.num_steps: unknown")
    assert (ends["0001"]["state"], ends["0002"]["state"], ends["0002"]["ended"]) == ("failed", "done", 2)
    run = workplace.folder / "out" / "job"
    end = json.loads((run / "trials/0002/metrics.json").read_text())["end"]
    assert f"), test {end['test']['late']['loss']:.4f}" in events[-2]["line"]
    assert json.loads((run / "hyperopt.json").read_text())["best"]["trial"] == "0002"
    assert "Parallel coordinates" in (run / "report.html").read_text()
    alone = workplace.done("train", str(run / "trials/0002/job.yaml"), "--threads", "1", "--output", "alone")
    assert "done in" in alone.out
    assert are_equal(run, run / "trials/0002", workplace.folder / "alone")
    assert "the search is done" in workplace.run("hyperopt", job, "--resume").out
    assert workplace.done("evaluate", job).out


@pytest.mark.slow
def test_each_trial_is_a_gang_of_two_workers(workplace):
    def change(job: dict[str, Any]) -> None:
        job["config"]["hyperopt"] = {**SEARCH, "executor": {"num_samples": 2, "max_concurrent_trials": 1}}
        job["backend"] = {"type": "ray", "trainer": {"num_workers": 2, "resources_per_worker": {"CPU": 0.5}}}

    program(workplace, "hyperopt", workplace.job(change), "--output", "out")
    run = workplace.folder / "out"
    for trial in ("0001", "0002"):
        resolved = json.loads((run / "trials" / trial / "resolved.json").read_text())["resolved"]
        assert (resolved["backend"], resolved["workers"]) == ("ray", 2)
    best = json.loads((run / "hyperopt.json").read_text())["best"]["folder"]
    program(workplace, "train", f"out/{best}/job.yaml", "--output", "alone")
    assert are_equal(run, run / best, workplace.folder / "alone")
