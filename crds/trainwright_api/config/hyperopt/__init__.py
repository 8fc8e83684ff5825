"""Hyperparameter search, with the names of Ludwig and Ray Tune."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field

from trainwright_api.config.hyperopt.parameter import PARAMETER, GridSearchParameter, Parameter
from trainwright_api.config.hyperopt.scheduler import SCHEDULER, Scheduler
from trainwright_api.config.hyperopt.search import SEARCH, SearchAlgorithm
from trainwright_api.schema.choice import Choice
from trainwright_api.schema.fields import Name, NonNegativeInt, PositiveInt
from trainwright_api.schema.section import Section
from trainwright_api.schema.unions import PositiveIntOrAuto

SplitName = Literal["training", "validation", "test"]


class RayExecutor(Section):
    """Ray Tune, which runs the trials."""

    type: Literal["ray"] = Field("ray", description="Ray Tune.")
    num_samples: PositiveInt | None = Field(
        None, description="Number of trials. null: as many as the time budget allows."
    )
    time_budget_s: PositiveInt | None = Field(3600, description="Time budget of the whole search in seconds.")
    trial_driver_resources: dict[str, float] | None = Field(None, description="Resources of a trial's driver by name.")
    cpu_resources_per_trial: PositiveInt = Field(1, description="Number of CPUs for each trial.")
    gpu_resources_per_trial: NonNegativeInt = Field(0, description="Number of GPUs for each trial.")
    kubernetes_namespace: str | None = Field(None, description="Namespace of the Ray cluster.")
    max_concurrent_trials: PositiveIntOrAuto | None = Field("auto", description="Maximum number of concurrent trials.")
    scheduler: Annotated[Scheduler, SCHEDULER] = Field(
        default_factory=SCHEDULER.make, description="The scheduler that stops trials early."
    )


EXECUTOR = Choice("executor", "trainwright_api.config", {"ray": "hyperopt.RayExecutor"}, default="ray")


class HyperoptConfig(Section):
    """Hyperparameter search."""

    output_feature: Name = Field("combined", description="Name of the output whose metric is optimized, or combined.")
    goal: Literal["minimize", "maximize"] = Field("minimize", description="Direction of the optimization.")
    metric: Name = Field("loss", description="The metric to optimize.")
    split: SplitName = Field("validation", description="Split on which the metric is measured.")
    eval_split: SplitName = Field("validation", description="Split on which the best trial is evaluated.")
    search_alg: Annotated[SearchAlgorithm, SEARCH] = Field(
        default_factory=SEARCH.make, description="The search algorithm."
    )
    executor: Annotated[RayExecutor, EXECUTOR] = Field(
        default_factory=EXECUTOR.make, description="The executor that runs the trials."
    )
    parameters: dict[str, Annotated[Parameter, PARAMETER]] = Field(
        min_length=1, description="The search space of each parameter, by its path in the config."
    )

    @property
    def grid_size(self) -> int:
        """The number of combinations of all `grid_search` parameters."""
        grids = (one for one in self.parameters.values() if isinstance(one, GridSearchParameter))
        return math.prod(len(one.values) for one in grids)

    @property
    def number_of_trials(self) -> int | None:
        """`num_samples`, times the size of the grid. None: as many as the time budget allows."""
        samples = self.executor.num_samples
        if samples is None:
            is_grid = all(isinstance(one, GridSearchParameter) for one in self.parameters.values())
            return self.grid_size if is_grid else None
        return samples * self.grid_size

    @property
    def most_concurrent(self) -> int | None:
        """The number of trials that run at the same time, if the file says it; else as many as there is room for."""
        limits = [self.executor.max_concurrent_trials, getattr(self.search_alg, "max_concurrent", 0)]
        given = [limit for limit in limits if isinstance(limit, int) and limit]
        return min([*given, *([self.number_of_trials] if self.number_of_trials else [])]) if given else None
