"""Perturbed values: a factor or a new draw for a number, a neighbour for a value of a list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from trainwright_api.config.hyperopt.scheduler import PopulationBasedScheduler
from trainwright_trainer.search.ray_tune.mutations import perturbed


def found(space: dict[str, Any], value: Any, resample: float = 0.0, draws: int = 50) -> set[Any]:
    """All results of some draws."""
    pbt = PopulationBasedScheduler.model_validate(
        {"hyperparam_mutations": {"x": space}, "resample_probability": resample, "perturbation_factors": [2, 0.5]}
    )
    given = {"x": value, "other": 1}
    results = [perturbed(given, pbt, np.random.default_rng(seed)) for seed in range(draws)]
    assert all(one["other"] == 1 for one in results)
    return {one["x"] for one in results}


UNIFORM = {"space": "uniform", "lower": 0.1, "upper": 1.0}
LIST = {"space": "choice", "categories": ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("space", "value", "expected"),
    [
        (UNIFORM, 0.4, {0.2, 0.8}),
        (UNIFORM, 0.15, {0.1, 0.3}),
        (UNIFORM, 0.9, {0.45, 1.0}),
        ({"space": "randint", "lower": 1, "upper": 10}, 7, {4, 9}),
        ({"space": "quniform", "lower": 8, "upper": 64, "q": 8}, 24, {16, 48}),
        ({"space": "randn", "mean": 1}, 3.0, {1.5, 6.0}),
        (LIST, "b", {"a", "c"}),
        (LIST, "c", {"b", "c"}),
        (LIST, "z", {"a", "b", "c"}),
    ],
)
def test_a_value_is_perturbed_within_its_space(space: Any, value: Any, expected: set[Any]) -> None:
    assert found(space, value) == expected


def test_a_new_draw_comes_from_the_space() -> None:
    drawn = found(UNIFORM, 0.4, resample=1.0)
    assert len(drawn) == 50
    assert all(0.1 <= value <= 1.0 for value in drawn)
    assert found(LIST, "b", resample=1.0) == {"a", "b", "c"}
    assert all(0.1 <= value <= 1.0 for value in found(UNIFORM, "auto"))


def test_the_same_draws_give_the_same_values() -> None:
    assert found(UNIFORM, 0.4, resample=1.0) == found(UNIFORM, 0.4, resample=1.0)
