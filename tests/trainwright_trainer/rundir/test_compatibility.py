"""Tables of jobs that may or may not resume a run."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from trainwright_trainer.rundir import compatibility

JOB: dict[str, Any] = {
    "metadata": {"name": "flights"},
    "spec": {
        "dataset": "flights.parquet",
        "seed": 42,
        "output": "out",
        "config": {
            "input_features": [{"name": "hour", "type": "number"}, {"name": "day", "type": "number"}],
            "trainer": {"epochs": 5, "train_steps": None, "early_stop": 5, "learning_rate": 0.001},
        },
        "backend": {"type": "local", "cache_dir": "cache", "loader": {"fully_executed": True}},
        "checkpoint": {"numToKeep": 3},
    },
}


def changed(path: str, value: Any) -> dict[str, Any]:
    job = copy.deepcopy(JOB)
    *parents, last = path.split(".")
    place: Any = job["spec"]
    for key in parents:
        place = place[int(key)] if key.isdigit() else place[key]
    place[last] = value
    return job


def problems(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    return [
        str(problem) for problem in compatibility.differences(compatibility.essence(old), compatibility.essence(new))
    ]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("output", "elsewhere"),
        ("checkpoint", {"numToKeep": 9}),
        ("backend.cache_dir", "s3://bucket/cache"),
        ("backend.cache_credentials", {"secret": "canary"}),
        ("backend.type", "ray"),
        ("config.trainer.epochs", 6),
        ("config.trainer.early_stop", 6),
        ("config.trainer.early_stop", -1),
        ("config.trainer.early_stop", 0),
        ("dataset", "moved.parquet"),
    ],
)
def test_what_may_differ(path: str, value: Any) -> None:
    assert problems(JOB, changed(path, value)) == []


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        ("seed", 43, "seed: is 43, the run has 42"),
        ("config.trainer.learning_rate", 0.01, "config.trainer.learning_rate: is 0.01, the run has 0.001"),
        ("config.trainer.dropout", 0.5, "config.trainer.dropout: is 0.5, the run has absent"),
        (
            "config.trainer.epochs",
            4,
            "config.trainer.epochs: is 4, the run has 5; a resumed run may raise it, not lower it",
        ),
        (
            "config.trainer.early_stop",
            2,
            "config.trainer.early_stop: is 2, the run has 5; a resumed run may raise it, not lower it",
        ),
        (
            "config.trainer.train_steps",
            9,
            "config.trainer.train_steps: a resumed run cannot count train_steps, because the run counts epochs",
        ),
        (
            "config.input_features.1.type",
            "category",
            'config.input_features[1].type: is "category", the run has "number"',
        ),
        (
            "config.input_features",
            [{"name": "hour", "type": "number"}, {"name": "day", "type": "category", "encoder": {"type": "dense"}}],
            'config.input_features[1].type: is "category", the run has "number"',
        ),
        (
            "config.input_features",
            [{"name": "day", "type": "number"}],
            'config.input_features: is ["day"], the run has ["hour", "day"]',
        ),
        (
            "config.input_features.0.name",
            "minute",
            'config.input_features: is ["minute", "day"], the run has ["hour", "day"]',
        ),
        ("backend.loader.fully_executed", False, "loader.fully_executed: is false, the run has true"),
    ],
)
def test_what_may_not_differ_is_named_by_its_path(path: str, value: Any, line: str) -> None:
    assert problems(JOB, changed(path, value)) == [line]


def test_every_difference_is_reported_at_once() -> None:
    other = changed("seed", 1)
    other["spec"]["config"]["trainer"]["learning_rate"] = 1
    assert len(problems(JOB, other)) == 2


def test_no_secret_is_kept() -> None:
    assert "canary" not in str(compatibility.essence(changed("backend.cache_credentials", {"secret": "canary"})))


def test_long_values_are_cut() -> None:
    (line,) = problems(JOB, changed("config.input_features", ["x" * 500]))
    assert len(line) < 200


@pytest.mark.parametrize(
    ("path", "value", "raised"),
    [
        ("config.trainer.epochs", 6, True),
        ("config.trainer.epochs", 5, False),
        ("config.trainer.early_stop", 9, True),
        ("config.trainer.early_stop", -1, True),
        ("config.trainer.train_steps", 100, False),
        ("output", "elsewhere", False),
    ],
)
def test_more_training(path: str, value: Any, raised: bool) -> None:
    assert compatibility.raised(compatibility.essence(JOB), compatibility.essence(changed(path, value))) is raised


def test_the_digest_stays_when_the_length_is_raised_and_changes_with_all_else() -> None:
    digest = compatibility.digest(compatibility.essence(JOB))
    assert digest == compatibility.digest(compatibility.essence(changed("config.trainer.epochs", 9)))
    assert digest == compatibility.digest(compatibility.essence(changed("config.trainer.early_stop", 9)))
    assert digest != compatibility.digest(compatibility.essence(changed("config.trainer.learning_rate", 9)))


@pytest.mark.parametrize(
    ("dataset", "contents", "lines"),
    [
        ("flights.parquet", (None, None), []),
        ("flights.parquet", ("a", "b"), ["dataset: its content is not the data that the run was begun with"]),
        ("moved.parquet", ("a", "a"), []),
        ("moved.parquet", ("a", None), ['dataset: is "moved.parquet", the run has "flights.parquet"']),
    ],
)
def test_the_data(dataset: str, contents: tuple[str | None, str | None], lines: list[str]) -> None:
    old, new = compatibility.essence(JOB), compatibility.essence(changed("dataset", dataset))
    assert [str(problem) for problem in compatibility.data_differs(old, new, contents)] == lines


def of_steps(**trainer: Any) -> dict[str, Any]:
    return compatibility.essence(changed("config.trainer", {**JOB["spec"]["config"]["trainer"], **trainer}))


def test_train_steps_take_the_place_of_epochs() -> None:
    run = of_steps(train_steps=60)
    assert compatibility.limit_of(run) == "config.trainer.train_steps"
    assert not compatibility.raised(run, of_steps(train_steps=60, epochs=9))
    assert compatibility.raised(run, of_steps(train_steps=61))
    assert not compatibility.differences(run, of_steps(train_steps=60, epochs=1))
    (lowered,) = compatibility.differences(run, of_steps(train_steps=59))
    assert str(lowered) == "config.trainer.train_steps: is 59, the run has 60; a resumed run may raise it, not lower it"
    (other,) = compatibility.differences(run, of_steps())
    assert (
        str(other)
        == "config.trainer.train_steps: a resumed run cannot count epochs, because the run counts train_steps"
    )
