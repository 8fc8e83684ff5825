"""The search algorithms suggest values of the spaces, and repeat them when they are told the same."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from ray.tune.search.searcher import Searcher

from trainwright_api.config.hyperopt import HyperoptConfig
from trainwright_api.problems import Mistakes
from trainwright_trainer.search.ray_tune.searchers import searcher_of
from trainwright_trainer.search.ray_tune.spaces import decoded, encoded
from trainwright_trainer.search.setting import missing_module


def if_installed(word: str, *values: Any) -> Any:
    """The values of a test of a search algorithm, which is skipped where its package is missing."""
    module = missing_module(word)
    return pytest.param(*values, marks=pytest.mark.skipif(module is not None, reason=f"{module} is not installed"))


def needs(word: str) -> Any:
    return if_installed(word, word)


ALGORITHMS = ["random", "optuna", *map(needs, ("hyperopt", "bohb", "nevergrad"))]
EACH = [*ALGORITHMS, *map(needs, ("bayesopt", "ax"))]
SPACES: dict[str, Any] = {
    "uniform": {"space": "uniform", "lower": 1.0, "upper": 2.0},
    "quniform": {"space": "quniform", "lower": 0.5, "upper": 2.0, "q": 0.1},
    "whole": {"space": "quniform", "lower": 8, "upper": 64, "q": 8},
    "loguniform": {"space": "loguniform", "lower": 1e-5, "upper": 1e-1},
    "qloguniform": {"space": "qloguniform", "lower": 0.01, "upper": 1.0, "q": 0.01},
    "randint": {"space": "randint", "lower": 1, "upper": 4},
    "qrandint": {"space": "qrandint", "lower": 8, "upper": 32, "q": 8},
    "lograndint": {"space": "lograndint", "lower": 1, "upper": 100},
    "qlograndint": {"space": "qlograndint", "lower": 8, "upper": 64, "q": 8},
    "choice": {"space": "choice", "categories": ["a", [8, 16], {"b": None}, None, True]},
}
NUMBERS = {name: space for name, space in SPACES.items() if name != "choice"}
NORMAL: dict[str, Any] = {"randn": {"space": "randn", "mean": 5, "sd": 2}, "qrandn": {"space": "qrandn", "q": 0.5}}
HOLDS = {
    "uniform": lambda x: isinstance(x, float) and 1 <= x <= 2,
    "quniform": lambda x: 0.5 <= x <= 2 and x == round(x, 1),
    "whole": lambda x: isinstance(x, int) and x % 8 == 0 and 8 <= x <= 64,
    "loguniform": lambda x: 1e-5 <= x <= 1e-1,
    "qloguniform": lambda x: 0.01 <= x <= 1 and x == round(x, 2),
    "randint": lambda x: x in (1, 2, 3) and isinstance(x, int),
    "qrandint": lambda x: x in (8, 16, 24, 32) and isinstance(x, int),
    "lograndint": lambda x: 1 <= x < 100 and isinstance(x, int),
    "qlograndint": lambda x: x % 8 == 0 and 8 <= x <= 64 and isinstance(x, int),
    "choice": lambda x: x in SPACES["choice"]["categories"],
    "randn": lambda x: isinstance(x, float),
    "qrandn": lambda x: x % 0.5 == 0,
}


def search(parameters: Any, algorithm: Any = "random", samples: int | None = 4) -> HyperoptConfig:
    given = {"parameters": parameters, "search_alg": algorithm, "executor": {"num_samples": samples}}
    return HyperoptConfig.model_validate(given)


def suggestions(found: Searcher, count: int) -> list[dict[str, Any]]:
    """Each trial is told a score before the next is suggested."""
    made = []
    for number in range(count):
        made.append(found.suggest(str(number)))
        result = {"score": float(number % 3), "training_iteration": 1, "hyperband_info": {"budget": 1}}
        found.on_trial_result(str(number), result)
        found.on_trial_complete(str(number), result)
    return made


@pytest.mark.parametrize(
    ("algorithm", "spaces"),
    [
        ("random", {**SPACES, **NORMAL}),
        ("optuna", SPACES),
        if_installed("hyperopt", "hyperopt", {**SPACES, **NORMAL}),
        *(if_installed(word, word, SPACES) for word in ("bohb", "nevergrad")),
        if_installed("bayesopt", "bayesopt", NUMBERS),
    ],
)
def test_suggested_values_are_in_their_spaces(algorithm: str, spaces: Any) -> None:
    config = search(spaces, algorithm)
    made = suggestions(searcher_of(config, "max", 42), 30)
    values = [decoded(config.parameters, one) for one in made]
    assert {name for one in values for name, value in one.items() if not HOLDS[name](value)} == set()
    assert len({one["loguniform"] for one in values}) == 30
    assert all(len({str(one[name]) for one in values}) > 1 for name in spaces)


@pytest.mark.parametrize("algorithm", EACH)
def test_the_same_seed_and_history_give_the_same_suggestions(algorithm: str) -> None:
    """Whatever the generators of the process have drawn."""
    config = search(NUMBERS if algorithm == "bayesopt" else SPACES, algorithm)
    first, again, other = (suggestions(searcher_of(config, "max", seed), 15) for seed in (42, 42, 43))
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    "algorithm",
    [
        {"type": "random", "random_state": 7},
        {"type": "optuna", "seed": 7},
        if_installed("hyperopt", {"type": "hyperopt", "random_state_seed": 7}),
        if_installed("bohb", {"type": "bohb", "seed": 7}),
        if_installed("bayesopt", {"type": "bayesopt", "random_state": 7}),
    ],
)
def test_the_seed_of_the_section_is_before_that_of_the_job(algorithm: Any) -> None:
    config = search(NUMBERS, algorithm)
    assert suggestions(searcher_of(config, "max", 1), 3) == suggestions(searcher_of(config, "max", 2), 3)


@pytest.mark.parametrize(
    "algorithm",
    [
        "optuna",
        if_installed("hyperopt", {"type": "hyperopt", "n_initial_points": 5}),
        if_installed("bohb", {"type": "bohb", "bohb_config": {"random_fraction": 0.1}}),
        *map(needs, ("bayesopt", "nevergrad")),
    ],
)
def test_an_algorithm_learns_from_the_scores(algorithm: Any) -> None:
    config = search({"trainer.x": SPACES["uniform"]}, algorithm)
    told = []
    for mode in ("min", "max"):
        found, values = searcher_of(config, mode, 42), []
        for number in range(30):
            value = found.suggest(str(number))["p0"]
            far = (value - {"min": 1.3, "max": 1.7}[mode]) ** 2
            result = {"score": far if mode == "min" else -far, "training_iteration": 1, "hyperband_info": {"budget": 1}}
            found.on_trial_result(str(number), result)
            found.on_trial_complete(str(number), result)
            values.append(value)
        told.append(sum(values[15:]) / 15)
    assert told[0] < 1.45 < 1.55 < told[1]


def test_the_grid_is_passed_once_for_each_sample() -> None:
    grid = {"a": {"space": "grid_search", "values": [1, 2]}, "b": {"space": "grid_search", "values": ["x", "y", "z"]}}
    config = search({**grid, "c": SPACES["uniform"]}, samples=2)
    assert config.number_of_trials == 12
    values = [decoded(config.parameters, one) for one in suggestions(searcher_of(config, "max", 42), 12)]
    cells = [(one["a"], one["b"]) for one in values]
    assert cells[:6] == cells[6:] == list(itertools.product([1, 2], ["x", "y", "z"]))
    assert len({one["c"] for one in values}) == 12


def test_a_point_takes_the_place_of_its_cell_in_the_grid() -> None:
    """Each cell is still there once for each sample. A second point in a cell takes that of the next pass."""
    grid = {"a": {"space": "grid_search", "values": [1, 2]}, "b": {"space": "grid_search", "values": ["x", "y", "z"]}}
    points = [{"a": 2, "b": "y"}, {"a": 2, "b": "y"}, {"b": "z"}]
    config = search({**grid, "c": SPACES["uniform"]}, {"type": "random", "points_to_evaluate": points}, samples=2)
    made = suggestions(searcher_of(config, "max", 1), 12)
    values = [tuple(decoded(config.parameters, one)[name] for name in "ab") for one in made]
    assert values[:4] == [(2, "y"), (2, "y"), (1, "z"), (1, "x")]
    assert sorted(values) == sorted(2 * list(itertools.product([1, 2], "xyz")))


def test_draws_can_stay_constant_over_the_grid() -> None:
    parameters = {"a": {"space": "grid_search", "values": [1, 2, 3]}, "c": SPACES["uniform"]}
    config = search(parameters, {"type": "random", "constant_grid_search": True})
    draws = [one["p1"] for one in suggestions(searcher_of(config, "max", 42), 6)]
    assert len(set(draws[:3])) == len(set(draws[3:])) == 1
    assert draws[0] != draws[3]


def test_the_number_of_trials_without_samples() -> None:
    grid = {"a": {"space": "grid_search", "values": [1, 2]}}
    assert search(grid, samples=None).number_of_trials == 2
    assert search({**grid, "b": SPACES["uniform"]}, samples=None).number_of_trials is None


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_points_of_the_user_come_first(algorithm: str) -> None:
    points = [{"x": 1.25, "kind": [8, 16]}, {"x": 1.75, "kind": None}]
    parameters = {"x": SPACES["uniform"], "kind": SPACES["choice"]}
    config = search(parameters, {"type": algorithm, "points_to_evaluate": points})
    made = suggestions(searcher_of(config, "max", 42), 3)
    assert [decoded(config.parameters, one) for one in made[:2]] == points
    assert encoded(config.parameters, points[0]) == {"p0": 1.25, "p1": 1}


NAMES = ("ax", "bayesopt", "bohb", "nevergrad")


@pytest.mark.parametrize("algorithm", [needs(word) for word in NAMES])
def test_a_point_that_lacks_values_and_a_space_with_one_value_are_completed(algorithm: str) -> None:
    one = {"space": "quniform", "lower": 0.5, "upper": 0.5, "q": 0.5}
    parameters = {"x": SPACES["loguniform"], "y": SPACES["randint"], "one": one}
    config = search(parameters, {"type": algorithm, "points_to_evaluate": [{"x": 0.01}]})
    values = [decoded(config.parameters, point) for point in suggestions(searcher_of(config, "min", 42), 4)]
    assert values[0]["x"] == pytest.approx(0.01)
    assert all(value["one"] == 0.5 and value["y"] in (1, 2, 3) for value in values)


@pytest.mark.parametrize("algorithm", [needs(word) for word in NAMES])
def test_failed_trials_do_not_end_the_suggestions(algorithm: str) -> None:
    found = searcher_of(search({"x": SPACES["uniform"]}, algorithm), "max", 42)
    for number in range(25):
        assert isinstance(found.suggest(str(number)), dict)
        found.on_trial_complete(str(number), error=True)


@pytest.mark.parametrize("algorithm", [needs(word) for word in NAMES])
def test_the_generators_of_the_process_stay_as_they_are(algorithm: str) -> None:
    random.seed(1)
    np.random.seed(1)
    expected = random.random(), np.random.random()
    random.seed(1)
    np.random.seed(1)
    suggestions(searcher_of(search({"x": SPACES["uniform"]}, algorithm), "max", 42), 3)
    assert (random.random(), np.random.random()) == expected


@pytest.mark.parametrize("utility", [if_installed("bayesopt", {"kappa": "much"})])
def test_an_argument_that_a_package_refuses_is_a_mistake(utility: Any) -> None:
    algorithm = {"type": "bayesopt", "utility_kwargs": utility}
    with pytest.raises(Mistakes, match=r"search_alg: bayesopt does not start with .*: could not convert .* 'much'"):
        searcher_of(search({"x": SPACES["uniform"]}, algorithm), "max", 42)
