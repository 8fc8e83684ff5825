"""Each mistake of a search is one line before anything starts, and a valid search has none."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.checks.validate import Options, inspect

INPUTS = [{"name": "size", "type": "number"}, {"name": "kind", "type": "category"}]
OUTPUTS = [{"name": "late", "type": "binary"}]
RATE = {"space": "loguniform", "lower": 0.001, "upper": 0.1}


def lines(parameters: Any = None, *, config: Any = None, task: str = "hyperopt", **search: Any) -> list[str]:
    """The mistakes and the unbuilt parts of a search, without the common start of their paths."""
    section = {"executor": {"num_samples": 2}, "parameters": parameters or {"trainer.learning_rate": RATE}, **search}
    base = {"input_features": INPUTS, "output_features": OUTPUTS, "trainer": {"batch_size": 8}, "hyperopt": section}
    job = {"dataset": "data.csv", "config": {**base, **(config or {})}}
    found = inspect(job, "job.yaml", options=Options(task=task))
    return [str(problem).replace("config.hyperopt.", "", 1) for problem in (*found.mistakes, *found.unbuilt)]


def choice(*values: Any) -> dict[str, Any]:
    return {"space": "choice", "categories": list(values)}


VALID = {
    "a field": {"trainer.learning_rate": RATE},
    "a feature": {"kind.encoder.type": choice("dense", "onehot")},
    "a default": {"defaults.number.preprocessing.normalization": choice("zscore", "minmax", None)},
    "whole steps": {"trainer.batch_size": {"space": "quniform", "lower": 8, "upper": 32, "q": 8}},
    "a part": {".": choice({"combiner": {"type": "tabnet"}, "trainer": {"learning_rate": 0.01}}, {})},
    "a field of one choice": {
        "combiner.type": choice("concat", "tabnet"),
        "combiner.num_steps": {"space": "randint", "lower": 2, "upper": 4},
    },
}


@pytest.mark.parametrize("name", VALID)
def test_a_valid_search_has_no_mistake(name: str) -> None:
    assert lines(VALID[name]) == []


PARAMETERS = {
    "no field": ({"trainer.lerning_rate": RATE}, "unknown path: did you mean 'learning_rate'?"),
    "no section": ({"trainr.learning_rate": RATE}, "unknown path: 'trainr': did you mean 'trainer'?"),
    "a whole feature": ({"kind": choice("x")}, "'kind' is a feature: name one of its fields, as in kind.encoder.type"),
    "a list": ({"input_features.kind": choice("x")}, "unknown path: 'input_features'"),
    "a wrong word": (
        {"kind.encoder.type": choice("dense", "onehott")},
        "the value onehott: 'onehott' is no encoder of a category feature: did you mean 'onehot'?",
    ),
    "a bound": ({"trainer.batch_size": {"space": "randint", "lower": 0, "upper": 9}}, "the value 0: "),
    "no whole number": ({"trainer.epochs": {"space": "uniform", "lower": 1.5, "upper": 2.5}}, "the value 1.5: "),
    "not built": ({"trainer.optimizer.type": choice("adam", "lamb")}, "the value lamb: not built yet: lamb"),
    "a wrong part": (
        {".": choice({"trainer": {"epoch": 1}})},
        'the value {"trainer": {"epoch": 1}}: config.trainer.epoch: unknown: did you mean',
    ),
    "no part": ({".": choice(3)}, "3: expected a part of the config, as keys and values"),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_each_wrong_parameter_is_one_line(name: str) -> None:
    parameters, start = PARAMETERS[name]
    found = lines(parameters)
    assert len(found) == 1, found
    assert found[0].startswith(f"parameters.{next(iter(parameters))}: {start}")


SPACES = {
    "log of zero": ({"space": "loguniform", "lower": 0, "upper": 1}, "lower: lower 0 has no logarithm"),
    "no step": ({"space": "quniform", "lower": 0, "upper": 1}, "q: missing: the step of the values"),
    "a step that misses": ({"space": "qrandint", "lower": 1, "upper": 9, "q": 4}, "lower: lower 1 is no multiple of"),
    "empty": ({"space": "randint", "lower": 2, "upper": 2}, "upper: there is no integer from 2 to below 2"),
    "reversed": ({"space": "uniform", "lower": 2, "upper": 1}, "lower: lower 2 is above upper 1"),
}


@pytest.mark.parametrize("name", SPACES)
def test_a_space_without_values_is_a_mistake(name: str) -> None:
    space, start = SPACES[name]
    found = lines({"trainer.learning_rate": space})
    assert found
    assert found[0].startswith(f"parameters.trainer.learning_rate.{start}")


SECTION: dict[str, tuple[dict[str, Any], str]] = {
    "output": (
        {"output_feature": "lat"},
        "output_feature: 'lat' is no output feature; there are combined, late: did you",
    ),
    "metric": ({"output_feature": "late", "metric": "r2"}, "metric: 'r2' is no metric of 'late'; there are loss, "),
    "combined": ({"metric": "roc_auc"}, "metric: 'roc_auc' is no metric of 'combined'; there are loss"),
    "goal": ({"output_feature": "late", "metric": "roc_auc"}, "goal: minimize looks for the worst: roc_auc is better"),
    "goal of loss": ({"goal": "maximize"}, "goal: maximize looks for the worst: loss is better the smaller it is"),
    "test": (
        {"split": "test", "executor": {"num_samples": 1, "scheduler": "asha"}},
        "split: test is measured once, at the end of a trial",
    ),
    "no end": ({"executor": {"time_budget_s": None}}, "executor.num_samples: missing: without a time budget"),
    "time_attr": (
        {"executor": {"num_samples": 1, "scheduler": {"type": "asha", "time_attr": "epochs"}}},
        "executor.scheduler.time_attr: 'epochs' is no measure of time; there are training_iteration, time_total_s",
    ),
    "max_t": (
        {"executor": {"num_samples": 1, "scheduler": {"type": "asha", "max_t": 1, "grace_period": 2}}},
        "executor.scheduler.max_t: 1 is less than grace_period 2",
    ),
    "factor": (
        {"executor": {"num_samples": 1, "scheduler": {"type": "hyperband", "reduction_factor": 1}}},
        "executor.scheduler.reduction_factor: expected more than 1, found 1",
    ),
    "point": (
        {"search_alg": {"type": "random", "points_to_evaluate": [{"trainer.rate": 1}]}},
        "search_alg.points_to_evaluate[0].trainer.rate: 'trainer.rate' is no parameter of the search",
    ),
    "point of a text": (
        {"search_alg": {"type": "optuna", "points_to_evaluate": [{"trainer.learning_rate": "fast"}]}},
        "search_alg.points_to_evaluate[0].trainer.learning_rate: expected a number, found fast",
    ),
    "point without a logarithm": (
        {
            "search_alg": {"type": "optuna", "points_to_evaluate": [{"combiner.dropout": 0}]},
            "parameters": {"combiner.dropout": RATE},
        },
        "search_alg.points_to_evaluate[0].combiner.dropout: 0 has no logarithm: expected a number above 0",
    ),
    "point that the field refuses": (
        {
            "search_alg": {"type": "random", "points_to_evaluate": [{"trainer.batch_size": 20.5}]},
            "parameters": {"trainer.batch_size": {"space": "randint", "lower": 8, "upper": 64}},
        },
        "search_alg.points_to_evaluate[0].trainer.batch_size: the value 20.5: expected a whole number",
    ),
    "seed": (
        {"search_alg": {"type": "random", "random_state": -1}},
        "search_alg.random_state: expected at least 0, found the number -1",
    ),
    "removed": (
        {"search_alg": "skopt"},
        "search_alg: not built yet: skopt (Ray Tune has removed it; this version has random",
    ),
    "scheduler": (
        {"executor": {"num_samples": 1, "scheduler": "pb2"}},
        "executor.scheduler: not built yet: pb2 (its Gaussian process is lost",
    ),
    "another's fault": ({"search_alg": "zoopt"}, "search_alg: not built yet: zoopt (ZOOpt waits for ever if"),
    "argument": (
        {"search_alg": {"type": "bohb", "bohb_config": {"random_fracton": 0.1}}},
        "search_alg.bohb_config.random_fracton: 'random_fracton' is no argument; there are min_points_in_model, ",
    ),
    "utility": (
        {"search_alg": {"type": "bayesopt", "utility_kwargs": {"kind": "uct"}}},
        "search_alg.utility_kwargs.kind: 'uct' is no utility function; there are ucb, ei, poi: did you mean 'ucb'?",
    ),
    "evaluation": (
        {"config": {"trainer": {"skip_all_evaluation": True}}},
        "config.trainer.skip_all_evaluation: a search compares trials by their evaluations",
    ),
    "driver": (
        {"executor": {"num_samples": 1, "trial_driver_resources": {"CPU": 1}}},
        "executor.trial_driver_resources: not built yet",
    ),
}


@pytest.mark.parametrize("name", SECTION)
def test_each_wrong_field_is_one_line(name: str) -> None:
    search, start = SECTION[name]
    found = lines(**search)
    assert len(found) == 1, found
    assert found[0].startswith(start)


def test_a_mistake_of_the_job_itself_is_not_repeated_by_each_parameter() -> None:
    parameters = {"trainer.batch_size": choice(8, 16), "combiner.type": choice("concat", "tabnett")}
    first, second = lines(parameters, config={"trainer": {"batch_size": 8, "learning_rate": "auto"}})
    assert first.startswith("parameters.combiner.type: the value tabnett: ")
    assert second.startswith("config.trainer.learning_rate: not built yet: auto")


def test_a_feature_with_the_name_of_a_section_is_refused() -> None:
    features = [*INPUTS, {"name": "trainer", "type": "number"}]
    found = lines({"trainer.epochs": choice(1)}, config={"input_features": features})
    assert len(found) == 1
    assert "'trainer' is a feature and a section of the config: rename the feature" in found[0]


@pytest.mark.parametrize(
    ("word", "space", "line"),
    [
        ("optuna", {"space": "grid_search", "values": [0.1]}, "grid_search needs search_alg random, found optuna"),
        ("optuna", {"space": "randn", "mean": 1}, "optuna has no normal distribution"),
        ("nevergrad", {"space": "randn", "mean": 1}, "nevergrad has no normal distribution"),
        ("bayesopt", choice(0.1, 0.2), "bayesopt searches numbers only: use an interval"),
    ],
)
def test_a_space_that_the_search_algorithm_lacks(word: str, space: Any, line: str) -> None:
    found = lines({"trainer.learning_rate": space}, search_alg=word)
    assert len(found) == 1
    assert line in found[0]


def test_the_section_is_needed_by_its_task_and_ignored_by_the_others() -> None:
    assert lines({"trainr.x": RATE}, task="train", search_alg="hebo") == []
    assert lines(config={"hyperopt": None}) == ["config.hyperopt: missing: task hyperopt needs this section"]


def test_the_section_alone_is_checked_for_its_unknown_words() -> None:
    assert "search_alg: 'optunaa' is no search algorithm: did you mean 'optuna'?" in lines(search_alg="optunaa")[0]
