"""The mistakes of population based training: each is one line before anything starts."""

from __future__ import annotations

from typing import Any

import pytest
from tests.trainwright_api.checks.test_search import RATE, lines

DECAY = {"space": "uniform", "lower": 0, "upper": 0.1}
BATCH = {"space": "choice", "categories": [8, 16]}


def found(names: Any = ("trainer.learning_rate",), executor: Any = None, **scheduler: Any) -> list[str]:
    """`names`: the parameters that are perturbed, with their spaces, or those of the search."""
    parameters = {"trainer.learning_rate": RATE, "trainer.batch_size": BATCH, "trainer.optimizer.weight_decay": DECAY}
    spaces = names if isinstance(names, dict) else {name: parameters[name] for name in names}
    own = {"type": "pbt", "hyperparam_mutations": spaces, **scheduler}
    given = lines(parameters, executor={"num_samples": 4, "scheduler": own, **(executor or {})})
    return [line.removeprefix("executor.") for line in given]


@pytest.mark.parametrize(
    "scheduler", [{}, {"synch": True, "perturbation_factors": [2, 0.5], "resample_probability": 1}]
)
def test_a_valid_population(scheduler: Any) -> None:
    assert found(("trainer.learning_rate", "trainer.optimizer.weight_decay"), **scheduler) == []


OUTSIDE = {"trainer.learning_rate": {"space": "uniform", "lower": -1, "upper": 1}}
MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "shape": (
        {"names": ["trainer.batch_size"]},
        "scheduler.hyperparam_mutations.trainer.batch_size: a checkpoint continues with one value of it only. pbt can",
    ),
    "no parameter": (
        {"names": {"trainer.learning_rat": RATE}},
        "scheduler.hyperparam_mutations.trainer.learning_rat: is no parameter of the search: did you mean 'trainer.le",
    ),
    "values": ({"names": OUTSIDE}, "scheduler.hyperparam_mutations.trainer.learning_rate: the value -1"),
    "none": ({"names": {}}, "scheduler.hyperparam_mutations: missing: the parameters that pbt perturbs"),
    "members": ({"executor": {"num_samples": 1}}, "num_samples: is 1: expected a population of 2 trials or more"),
    "no end": ({"executor": {"num_samples": None}}, "num_samples: missing: pbt needs the number of members"),
    "interval": ({"perturbation_interval": 0}, "scheduler.perturbation_interval: expected more than 0, found 0"),
    "probability": ({"resample_probability": 2}, "scheduler.resample_probability: expected 1 or less, found 2"),
    "factor": ({"perturbation_factors": [0, 2]}, "scheduler.perturbation_factors: expected two numbers above 0, fou"),
    "function": ({"custom_explore_fn": "m.f"}, "scheduler.custom_explore_fn: not built yet"),
    "log": ({"log_config": False}, "scheduler.log_config: not built yet"),
    "time": ({"time_attr": "epochs"}, "scheduler.time_attr: 'epochs' is no measure of time"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_each_mistake_is_one_line(name: str) -> None:
    given, start = MISTAKES[name]
    problems = found(**given)
    assert len(problems) == 1, problems
    assert problems[0].startswith(start)


def test_only_the_first_values_come_from_a_search_algorithm() -> None:
    scheduler = {"type": "pbt", "hyperparam_mutations": {"trainer.learning_rate": RATE}}
    problems = lines(search_alg="optuna", executor={"num_samples": 4, "scheduler": scheduler})
    assert problems == ["search_alg.type: pbt chooses all values but the first itself: set random, found optuna"]
