from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import replace
from functools import reduce
from operator import getitem
from typing import Any

import pytest

from trainwright_trainer.callbacks.events import Evaluated
from trainwright_trainer.report.overlay import MOST_LINES, chosen
from trainwright_trainer.report.runs import (
    RunRecord,
    best_of,
    curves_of,
    differences,
    labelled,
    other_rows_line,
    scored_metrics,
    telling_metrics,
)

RESOLVED: dict[str, Any] = {
    "name": "a",
    "seed": 42,
    "threads": 2,
    "dataset": {"path": "a.csv", "content": "9f3c", "cache": "x"},
    "config": {
        "input_features": [
            {"name": "age", "type": "number", "encoder": {"type": "dense", "layers": 1}, "column": "age"},
            {"name": "plan", "type": "category", "encoder": {"type": "dense", "size": 8}, "column": "plan"},
        ],
        "trainer": {"epochs": 3, "optimizer": {"type": "adam", "betas": [0.9, 0.999]}},
    },
}


def at(epoch: int, loss: float, auc: float, *, part: str = "validation") -> Evaluated:
    scores = {part: {"combined": {"loss": loss}, "y": {"loss": loss, "roc_auc": auc}}}
    return Evaluated(epoch, epoch + 1, float(epoch), 100.0, 0.001, scores, True)


def record(label: str = "a", auc: float = 0.7, **changes: Any) -> RunRecord:
    rounds = [at(0, 0.6, auc - 0.1), at(1, 0.5, auc)]
    test = {"combined": {"loss": 0.5}, "y": {"loss": 0.5, "accuracy": 0.8, "roc_auc": auc}}
    whole = RunRecord(label, f"out/{label}", "done", rounds, rounds[1], test, 12.0, "y.roc_auc", RESOLVED)
    return replace(whole, **changes)


def changed(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """The resolved config with another value at a path; None takes it out."""

    def put(tree: Any, steps: tuple[Any, ...]) -> Any:
        if not steps:
            return value
        copy = list(tree) if isinstance(tree, list) else dict(tree)
        copy[steps[0]] = put(copy[steps[0]], steps[1:]) if len(steps) > 1 else value
        return copy

    found: dict[str, Any] = put(RESOLVED, path)
    return found


def test_equal_settings_are_no_difference() -> None:
    other = record(resolved={**RESOLVED, "name": "b", "threads": 1})
    assert differences([record(), other]) == {}


@pytest.mark.parametrize(
    ("path", "value", "found"),
    [
        (("seed",), 43, {"seed": ["42", "43"]}),
        (("dataset", "content"), "0123456789abcdef", {"dataset.content": ["9f3c", "0123456789ab"]}),
        (("dataset", "path"), "b.csv", {}),
        (("config", "trainer", "epochs"), 5, {"config.trainer.epochs": ["3", "5"]}),
        (
            ("config", "trainer", "optimizer", "betas"),
            [0.8],
            {"config.trainer.optimizer.betas": ["[0.9, 0.999]", "[0.8]"]},
        ),
        (
            ("config", "input_features", 0, "encoder"),
            {"type": "passthrough"},
            {"config.input_features[age].encoder.type": ["dense", "passthrough"]},
        ),
        (
            ("config", "input_features"),
            RESOLVED["config"]["input_features"][:1],
            {"config.input_features[plan]": ["category", "–"]},
        ),
    ],
)
def test_a_difference_has_its_path_and_both_values(path: tuple[Any, ...], value: Any, found: dict[str, Any]) -> None:
    assert differences([record(), record(resolved=changed(path, value))]) == found


@pytest.mark.parametrize(
    ("split", "path", "value", "named"),
    [
        ("random", ("seed",), 7, "seed"),
        ("stratify", ("seed",), 7, "seed"),
        ("hash", ("seed",), 7, None),
        ("random", ("threads",), 3, None),
        ("random", ("dataset", "content"), "aaaa", "dataset.content"),
        ("random", ("config", "preprocessing", "split", "type"), "hash", "config.preprocessing.split.type"),
        ("random", ("config", "preprocessing", "sample_ratio"), 0.5, "config.preprocessing.sample_ratio"),
    ],
)
def test_other_test_rows_are_named(split: str, path: tuple[str, ...], value: Any, named: str | None) -> None:
    before = deepcopy(RESOLVED)
    before["config"]["preprocessing"] = {"split": {"type": split}, "sample_ratio": 1.0}
    after = deepcopy(before)
    reduce(getitem, path[:-1], after)[path[-1]] = value
    line = other_rows_line([record(resolved=before), record("b", resolved=after)])
    assert line == (named and f"the test rows are not the same ({named}), which alone can change a score")


def test_another_number_of_test_rows_is_named() -> None:
    few, many, unknown = record(test_rows=64), record("b", test_rows=76), record("c")
    line = other_rows_line([few, many, unknown])
    assert line == "the test rows are not the same (64 and 76 rows), which alone can change a score"
    assert other_rows_line([few, replace(few, label="b"), unknown]) is None


def test_a_rate_that_nothing_scales_is_one_line() -> None:
    def run(rate: float, scaled: float) -> Any:
        other = changed(("config", "trainer", "learning_rate"), rate)
        return record(resolved=other | {"batching": {"learning_rate": scaled}})

    assert differences([run(0.1, 0.1), run(0.2, 0.2)]) == {"config.trainer.learning_rate": ["0.1", "0.2"]}
    assert "batching.learning_rate" in differences([run(0.1, 0.2), run(0.2, 0.4)])


def test_the_recipe_is_one_line_beside_what_it_has_chosen() -> None:
    chosen = changed(("config", "trainer", "epochs"), 100) | {"recipe": {"trainer": {"epochs": 100}, "tolerance": 0.1}}
    found = differences([record(resolved={**RESOLVED, "recipe": None}), record(resolved=chosen)])
    assert found == {"config.trainer.epochs": ["3", "100"], "recipe.tolerance": ["–", "0.1"]}


def test_the_order_of_features_is_no_difference() -> None:
    reverse = changed(("config", "input_features"), RESOLVED["config"]["input_features"][::-1])
    assert differences([record(), record(resolved=reverse)]) == {}


@pytest.mark.parametrize(
    ("names", "places", "labels"),
    [
        (["a", "b"], ["out/a", "out/b"], ["a", "b"]),
        (["a", "a"], ["out/x", "out/y/"], ["x", "y"]),
        (["a", "a"], ["s3://one/a", "s3://two/a"], ["one/a", "two/a"]),
        (["a", "a"], ["out/a", "out/a"], ["out/a (1)", "out/a (2)"]),
    ],
)
def test_labels_differ(names: list[str], places: list[str], labels: list[str]) -> None:
    assert labelled(names, places) == labels


def test_one_test_score_stands_for_each_output() -> None:
    two = {"y": {"loss": 0.5, "accuracy": 0.8, "roc_auc": 0.7}, "z": {"loss": 1.0, "mean_absolute_error": 3.0}}
    runs = [record(), record(test=two)]
    assert scored_metrics(runs) == ["y.loss", "y.accuracy", "y.roc_auc", "z.loss", "z.mean_absolute_error"]
    assert telling_metrics(runs) == ["y.roc_auc", "z.mean_absolute_error"]
    assert telling_metrics([record(monitored="y.accuracy")]) == ["y.accuracy"]
    lists = {"s": {"loss": 0.5, "jaccard": 0.7}, "t": {"loss": 0.5, "sequence_accuracy": 0.1, "token_accuracy": 0.7}}
    assert telling_metrics([record(test=lists)]) == ["s.jaccard", "t.token_accuracy"]
    assert math.isnan(runs[0].test_score("z.loss"))


def test_the_best_is_the_least_error_or_the_largest_score() -> None:
    assert best_of([0.3, math.nan, 0.2], "loss") == 0.2
    assert best_of([0.3, math.nan, 0.2], "roc_auc") == 0.3
    assert best_of([math.nan], "loss") is None


def test_curves_are_those_of_validation_by_epoch() -> None:
    halves = [at(0, 0.9, 0.5), replace(at(0, 0.8, 0.6), step=2), at(1, 0.7, 0.7)]
    found = curves_of([record("a", rounds=halves), record("b", rounds=[at(0, 0.4, 0.8, part="train")])])
    assert found == {
        "y.loss": {"a": [(0.5, 0.9), (1.0, 0.8), (2.0, 0.7)], "b": [(1.0, 0.4)]},
        "y.roc_auc": {"a": [(0.5, 0.5), (1.0, 0.6), (2.0, 0.7)], "b": [(1.0, 0.8)]},
    }


def test_the_best_of_many_runs_are_drawn() -> None:
    runs = [record(f"r{i}", auc=0.5 + (i * 7 % 10) / 100) for i in range(10)]
    best = sorted(runs, key=lambda run: -run.validation("y.roc_auc"))[:MOST_LINES]
    assert chosen(runs) == [run.label for run in runs if run in best]
    assert chosen(runs[:3]) == ["r0", "r1", "r2"]
