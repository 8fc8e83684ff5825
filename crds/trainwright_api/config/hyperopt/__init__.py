"""A search for good settings, in Ludwig's and Ray Tune's words."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trainwright_api.config.hyperopt.parameter import PARAMETER, Parameter
from trainwright_api.config.hyperopt.scheduler import SCHEDULER, Scheduler
from trainwright_api.config.hyperopt.search import SEARCH, SearchAlgorithm
from trainwright_api.schema.choice import Choice
from trainwright_api.schema.fields import Name, NonNegativeInt, PositiveInt
from trainwright_api.schema.section import Section
from trainwright_api.schema.unions import PositiveIntOrAuto

SplitName = Literal["training", "validation", "test"]


class RayExecutor(Section):
    """Runs the trials with Ray Tune."""

    type: Literal["ray"] = Field("ray", description="Ray Tune.")
    num_samples: PositiveInt | None = Field(None, description="Number of trials; null for as many as the time allows.")
    time_budget_s: PositiveInt | None = Field(3600, description="Time of the whole search, in seconds.")
    trial_driver_resources: dict[str, float] | None = Field(None, description="Resources of a trial's driver, by name.")
    cpu_resources_per_trial: PositiveInt = Field(1, description="CPUs of a trial.")
    gpu_resources_per_trial: NonNegativeInt = Field(0, description="GPUs of a trial.")
    kubernetes_namespace: str | None = Field(None, description="Namespace of Ray's cluster.")
    max_concurrent_trials: PositiveIntOrAuto | None = Field("auto", description="Most trials at once.")
    scheduler: Annotated[Scheduler, SCHEDULER] = Field(
        default_factory=SCHEDULER.make, description="Which trials are stopped early."
    )


EXECUTOR = Choice("executor", "trainwright_api.config", {"ray": "hyperopt.RayExecutor"}, default="ray")


class HyperoptConfig(Section):
    """What is searched, by which metric, and how."""

    output_feature: Name = Field("combined", description="Output whose metric counts, or combined.")
    goal: Literal["minimize", "maximize"] = Field("minimize", description="Whether it is to be small or large.")
    metric: Name = Field("loss", description="The metric.")
    split: SplitName = Field("validation", description="Split on which it is measured.")
    eval_split: SplitName = Field("validation", description="Split on which the best trial is evaluated.")
    search_alg: Annotated[SearchAlgorithm, SEARCH] = Field(
        default_factory=SEARCH.make, description="What is tried next."
    )
    executor: Annotated[RayExecutor, EXECUTOR] = Field(
        default_factory=EXECUTOR.make, description="What runs the trials."
    )
    parameters: dict[str, Annotated[Parameter, PARAMETER]] = Field(
        min_length=1, description="The space of each setting, by its path in the config."
    )
