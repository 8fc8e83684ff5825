"""The processes that a job asks for."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.size import asked_resources, asked_workers, workers_per_trial

GRID = {"trainer.epochs": {"space": "grid_search", "values": [1, 2, 3]}}
RATE = {"trainer.learning_rate": {"space": "uniform", "lower": 0.1, "upper": 1}}


def spec(trainer: Any = None, task: str = "hyperopt", parameters: Any = RATE, **executor: Any) -> TrainingJobSpec:
    config = {
        "input_features": [{"name": "size", "type": "number"}],
        "output_features": [{"name": "late", "type": "binary"}],
        "hyperopt": {"parameters": parameters, "executor": {"num_samples": 8, **executor}},
    }
    backend = {"type": "ray", "trainer": trainer or {}}
    return TrainingJobSpec.model_validate({"task": task, "dataset": "x", "config": config, "backend": backend})


@pytest.mark.parametrize(
    ("made", "workers"),
    [
        (spec({"num_workers": 3}, task="train"), 3),
        (spec(task="train"), None),
        (spec(max_concurrent_trials=4), 4),
        (spec({"num_workers": 2}, max_concurrent_trials=4), 8),
        (spec(max_concurrent_trials=40), 8),
        (spec(parameters=GRID, num_samples=None, max_concurrent_trials=40), 3),
        (spec(num_samples=None, max_concurrent_trials=40), 40),
        (spec(), None),
        (spec(max_concurrent_trials=None), None),
    ],
)
def test_a_search_has_the_workers_of_the_trials_that_run_at_the_same_time(made: TrainingJobSpec, workers: Any) -> None:
    assert asked_workers(made) == workers


def test_the_search_algorithm_may_limit_the_trials_too() -> None:
    given = spec(max_concurrent_trials=4)
    assert given.config is not None
    search = given.config.hyperopt.model_dump(exclude_unset=True)  # type: ignore[attr-defined]
    search["search_alg"] = {"type": "random", "max_concurrent": 2}
    config = given.config.model_validate({**given.config.model_dump(exclude_unset=True), "hyperopt": search})
    assert asked_workers(given.model_copy(update={"config": config})) == 2


def test_a_trial_of_one_process_has_the_resources_of_the_executor_and_a_gang_those_of_its_workers() -> None:
    alone = spec(cpu_resources_per_trial=4, gpu_resources_per_trial=1)
    assert (workers_per_trial(alone), asked_resources(alone)) == (1, {"CPU": 4, "GPU": 1})
    gang = spec({"num_workers": 2, "resources_per_worker": {"CPU": 3}})
    assert (workers_per_trial(gang), asked_resources(gang)) == (2, {"CPU": 3})
    training = spec({"num_workers": 2, "resources_per_worker": {"CPU": 3}}, task="train", cpu_resources_per_trial=4)
    assert (workers_per_trial(training), asked_resources(training)) == (1, {"CPU": 3})
