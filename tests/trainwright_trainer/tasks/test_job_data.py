"""A mistake in the data or a missing library is found before Ray, or the workers of a run, start on this machine."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_trainer import strategies
from trainwright_trainer.backends.ray import cluster
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.tasks import run

LINE = "job.yaml: config.output_features[0].column: 'latte' is not in data.csv. Nearest: 'late'."
HYPEROPT = {
    "goal": "minimize",
    "metric": "loss",
    "parameters": {"trainer.learning_rate": {"space": "uniform", "lower": 0.001, "upper": 0.1}},
    "executor": {"num_samples": 1},
}


@pytest.fixture(autouse=True)
def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*_: object, **__: object) -> None:
        raise AssertionError("it has started")

    monkeypatch.delenv(cluster.ADDRESS, raising=False)
    monkeypatch.setattr(cluster, "_init_with_retries", start)
    monkeypatch.setattr(run, "on_workers", start)


def with_a_wrong_column(spec: dict[str, Any], backend: str) -> None:
    spec["config"]["output_features"][0]["column"] = "latte"
    spec["config"]["hyperopt"] = HYPEROPT
    spec["backend"] = {"type": backend, "trainer": {"num_workers": 2}}


@pytest.mark.parametrize(
    ("command", "backend"),
    [("train", "ray"), ("experiment", "ray"), ("preprocess", "ray"), ("hyperopt", "ray"), ("train", "horovod")],
)
def test_a_missing_column(workplace, command: str, backend: str) -> None:
    job = workplace.job(lambda spec: with_a_wrong_column(spec, backend))
    assert workplace.refused(command, job) == LINE


@pytest.mark.parametrize("backend", ["deepspeed", "horovod"])
def test_a_missing_library(workplace, monkeypatch: pytest.MonkeyPatch, backend: str) -> None:
    monkeypatch.setattr(strategies, "find_spec", lambda _: None)
    job = workplace.job(lambda spec: spec.update(backend={"type": backend, "trainer": {"num_workers": 2}}))
    found = f"job.yaml: backend.trainer.strategy: {backend} is not installed here. Install it with: "
    assert workplace.refused("train", job).startswith(found)


def test_missing_data(workplace) -> None:
    job = workplace.job(lambda spec: spec.update(backend={"type": "ray"}, dataset="dat.csv"))
    assert workplace.refused("train", job) == "job.yaml: dataset: 'dat.csv' does not exist. Nearest: 'data.csv'."


def test_another_ray_may_have_files_that_this_machine_lacks(workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cluster.ADDRESS, "10.0.0.1:6379")
    job = workplace.job(lambda spec: spec.update(backend={"type": "ray"}, dataset="/on/the/cluster.csv"))
    monkeypatch.setattr(cluster, "_join", _refuse)
    ended = workplace.run("train", job)
    assert (ended.code, "cannot be reached" in ended.err) == (3, True), ended


def _refuse(*_: object) -> None:
    raise EnvironmentFailure("Ray at 10.0.0.1:6379 cannot be reached")


@pytest.mark.parametrize("task", ["predict", "evaluate"])
def test_a_missing_model(workplace, task: str) -> None:
    job = workplace.job(lambda spec: spec.update(backend={"type": "ray"}))
    found = workplace.refused(task, job, "--model", "nowhere")
    assert found.startswith("job.yaml: model: there is no model folder nowhere. ")


@pytest.mark.parametrize(("task", "column"), [("predict", "size"), ("evaluate", "late")])
def test_a_column_that_the_model_needs(workplace, task: str, column: str) -> None:
    workplace.done("train", workplace.job(), "--output", "out")
    lines = (workplace.folder / "data.csv").read_text().replace(column, "other").splitlines()
    job = workplace.job(lambda spec: spec.update(backend={"type": "ray"}, dataset=workplace.data(*lines, name="b.csv")))
    assert f"{column!r} is not in b.csv" in workplace.refused(task, job, "--model", "out")
