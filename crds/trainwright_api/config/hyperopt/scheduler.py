"""Which trials of a search are stopped early; the names are Ray Tune's."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, Strict

from trainwright_api.schema.choice import Choice, Chosen
from trainwright_api.schema.fields import NonNegativeFloat, NonNegativeInt, PositiveInt

TimeAttribute = Annotated[str, Field(description="What time is counted by.")]
MaxT = Annotated[PositiveInt, Field(description="Time after which every trial ends.")]
ReductionFactor = Annotated[NonNegativeFloat, Field(description="Share of the trials that is stopped, as a divisor.")]
StopLastTrials = Annotated[bool, Field(description="Whether trials end at max_t.")]
Interval = Annotated[NonNegativeFloat, Field(description="Time from one change of settings to the next.")]
Quantile = Annotated[float, Field(ge=0, le=0.5, description="Share of the trials that counts as best, and as worst.")]
LogConfig = Annotated[bool, Field(description="Whether changes are written down.")]
RequireAttributes = Annotated[bool, Field(description="Whether results must have the metric and the time.")]
Synch = Annotated[bool, Field(description="Whether all trials change at the same time.")]


class Scheduler(Chosen):
    """A scheduler; `type` names it."""

    time_attr: TimeAttribute = "training_iteration"
    metric: str | None = Field(None, description="Metric by which trials are judged; null for the search's own.")
    mode: Literal["min", "max"] | None = Field(None, description="Whether it is to be small or large.")


class FIFOScheduler(Scheduler):
    """No trial is stopped early."""

    type: Literal["fifo"] = Field("fifo", description="No trial is stopped early.")


class AsyncHyperbandScheduler(Scheduler):
    """ASHA: the worse part is stopped at every rung."""

    type: Literal["async_hyperband", "asynchyperband", "asha"] = Field(
        "async_hyperband", description="The worse part is stopped at every rung."
    )
    max_t: MaxT = 100
    grace_period: PositiveInt = Field(1, description="Time before which no trial is stopped.")
    reduction_factor: ReductionFactor = 4.0
    brackets: PositiveInt = Field(1, description="Number of brackets.")
    stop_last_trials: StopLastTrials = True


class HyperbandScheduler(Scheduler):
    """The worse part is stopped at every rung, when all have reached it."""

    type: Literal["hyperband"] = Field("hyperband", description="Hyperband.")
    max_t: MaxT = 81
    reduction_factor: ReductionFactor = 3.0
    stop_last_trials: StopLastTrials = True


class BOHBScheduler(Scheduler):
    """Hyperband together with the search algorithm bohb."""

    type: Literal["hb_bohb"] = Field("hb_bohb", description="Hyperband together with bohb.")
    max_t: MaxT = 81
    reduction_factor: ReductionFactor = 3.0
    stop_last_trials: StopLastTrials = True


class MedianStoppingScheduler(Scheduler):
    """Trials below the median are stopped."""

    type: Literal["median_stopping_rule", "medianstoppingrule"] = Field(
        "median_stopping_rule", description="Trials below the median are stopped."
    )
    time_attr: TimeAttribute = "time_total_s"
    grace_period: NonNegativeFloat = Field(60.0, description="Time before which no trial is stopped.")
    min_samples_required: PositiveInt = Field(3, description="Number of trials that make a median.")
    min_time_slice: NonNegativeInt = Field(0, description="Time that each trial runs before others get a turn.")
    hard_stop: bool = Field(True, description="Whether trials are ended rather than paused.")


class PopulationBasedScheduler(Scheduler):
    """The worst trials go on from the best ones with changed settings."""

    type: Literal["pbt"] = Field("pbt", description="The worst trials go on from the best ones.")
    time_attr: TimeAttribute = "time_total_s"
    perturbation_interval: Interval = 60.0
    burn_in_period: NonNegativeFloat = Field(60.0, description="Time before the first change.")
    hyperparam_mutations: dict[str, Any] | None = Field(None, description="Settings that change, and to what.")
    quantile_fraction: Quantile = 0.25
    resample_probability: NonNegativeFloat = Field(0.25, description="Probability of a wholly new value.")
    perturbation_factors: Annotated[tuple[float, float], Strict(False)] = Field(
        (1.2, 0.8), description="Factors by which numbers change."
    )
    custom_explore_fn: str | None = Field(None, description="Function that changes settings.")
    log_config: LogConfig = True
    require_attrs: RequireAttributes = True
    synch: Synch = False


class PopulationReplayScheduler(Scheduler):
    """Repeats the changes of an earlier pbt search."""

    type: Literal["pbt_replay"] = Field("pbt_replay", description="Repeats an earlier pbt search.")
    policy_file: str | None = Field(None, description="File in which that search wrote its changes.")


class PopulationBanditsScheduler(Scheduler):
    """pbt whose changes are chosen by a model of the results."""

    type: Literal["pb2"] = Field("pb2", description="pbt with chosen changes.")
    time_attr: TimeAttribute = "time_total_s"
    perturbation_interval: Interval = 60.0
    hyperparam_bounds: dict[str, Any] | None = Field(None, description="Settings that change, and their bounds.")
    quantile_fraction: Quantile = 0.25
    log_config: LogConfig = True
    require_attrs: RequireAttributes = True
    synch: Synch = False


class ResourceChangingScheduler(Scheduler):
    """Gives trials more or fewer resources while they run."""

    type: Literal["resource_changing"] = Field("resource_changing", description="Resources that change.")
    base_scheduler: str | None = Field(None, description="Scheduler that decides the rest; null for fifo.")
    resources_allocation_function: str | None = Field(None, description="Function that deals out resources.")


_ASHA = "scheduler.AsyncHyperbandScheduler"
_MEDIAN = "scheduler.MedianStoppingScheduler"
SCHEDULER = Choice(
    "scheduler",
    "trainwright_api.config.hyperopt",
    {
        "fifo": "scheduler.FIFOScheduler",
        "async_hyperband": _ASHA,
        "asynchyperband": _ASHA,
        "asha": _ASHA,
        "hyperband": "scheduler.HyperbandScheduler",
        "hb_bohb": "scheduler.BOHBScheduler",
        "median_stopping_rule": _MEDIAN,
        "medianstoppingrule": _MEDIAN,
        "pbt": "scheduler.PopulationBasedScheduler",
        "pbt_replay": "scheduler.PopulationReplayScheduler",
        "pb2": "scheduler.PopulationBanditsScheduler",
        "resource_changing": "scheduler.ResourceChangingScheduler",
    },
    default="fifo",
)
