"""The trial schedulers of the hyperparameter search, with Ray Tune's names."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, Strict

from trainwright_api.config.hyperopt.parameter import PARAMETER, Parameter
from trainwright_api.schema.choice import Choice, Chosen
from trainwright_api.schema.fields import NonNegativeFloat, NonNegativeInt, PositiveInt

TimeAttribute = Annotated[str, Field(description="Result attribute that measures time.")]
MaxT = Annotated[PositiveInt, Field(description="Maximum time of a trial, in units of time_attr.")]
ReductionFactor = Annotated[
    NonNegativeFloat, Field(description="Reduction factor: one of this many trials continues at each rung.")
]
StopLastTrials = Annotated[bool, Field(description="Stop trials at max_t.")]
Interval = Annotated[NonNegativeFloat, Field(description="Time between two perturbations, in units of time_attr.")]
Quantile = Annotated[float, Field(ge=0, le=0.5, description="Fraction of the trials that count as best, and as worst.")]
LogConfig = Annotated[bool, Field(description="Log the perturbations to a file.")]
RequireAttributes = Annotated[bool, Field(description="Require that each result has the metric and the time.")]
Synch = Annotated[bool, Field(description="All trials wait for each other before each perturbation.")]


class Scheduler(Chosen):
    """The trial scheduler. `type` selects it."""

    time_attr: TimeAttribute = "training_iteration"
    metric: str | None = Field(None, description="Metric that ranks the trials. null: the metric of the search.")
    mode: Literal["min", "max"] | None = Field(None, description="Direction of the optimization.")

    @property
    def pauses(self) -> bool:
        """True if the scheduler pauses trials, and continues them later."""
        return False


class FIFOScheduler(Scheduler):
    """Runs every trial to its end."""

    type: Literal["fifo"] = Field("fifo", description="Runs every trial to its end.")


class AsyncHyperbandScheduler(Scheduler):
    """ASHA: stops the worse trials at every rung, without waiting for the others."""

    type: Literal["async_hyperband", "asynchyperband", "asha"] = Field(
        "async_hyperband", description="ASHA: asynchronous successive halving."
    )
    max_t: MaxT = 100
    grace_period: PositiveInt = Field(1, description="Minimum time of a trial before it may be stopped.")
    reduction_factor: ReductionFactor = 4.0
    brackets: PositiveInt = Field(1, description="Number of brackets.")
    stop_last_trials: StopLastTrials = True


class HyperbandScheduler(Scheduler):
    """Hyperband: stops the worse trials at a rung when all trials have reached it."""

    type: Literal["hyperband"] = Field("hyperband", description="Hyperband.")
    max_t: MaxT = 81
    reduction_factor: ReductionFactor = 3.0
    stop_last_trials: StopLastTrials = True

    @property
    def pauses(self) -> bool:
        return True


class BOHBScheduler(Scheduler):
    """Hyperband for the search algorithm bohb."""

    type: Literal["hb_bohb"] = Field("hb_bohb", description="Hyperband for the search algorithm bohb.")
    max_t: MaxT = 81
    reduction_factor: ReductionFactor = 3.0
    stop_last_trials: StopLastTrials = True

    @property
    def pauses(self) -> bool:
        return True


class MedianStoppingScheduler(Scheduler):
    """Stops trials whose result is worse than the median of the others."""

    type: Literal["median_stopping_rule", "medianstoppingrule"] = Field(
        "median_stopping_rule", description="Stops trials whose result is worse than the median of the others."
    )
    time_attr: TimeAttribute = "time_total_s"
    grace_period: NonNegativeFloat = Field(60.0, description="Minimum time of a trial before it may be stopped.")
    min_samples_required: PositiveInt = Field(3, description="Minimum number of trials for a median.")
    min_time_slice: NonNegativeInt = Field(0, description="Minimum time that a trial runs before it may be paused.")
    hard_stop: bool = Field(True, description="Stop trials instead of pausing them.")

    @property
    def pauses(self) -> bool:
        return not self.hard_stop


class PopulationBasedScheduler(Scheduler):
    """Population based training: the worst trials continue from the best ones with perturbed parameters."""

    type: Literal["pbt"] = Field("pbt", description="Population based training.")
    time_attr: TimeAttribute = "time_total_s"
    perturbation_interval: Interval = 60.0
    burn_in_period: NonNegativeFloat = Field(60.0, description="Time before the first perturbation.")
    hyperparam_mutations: dict[str, Annotated[Parameter, PARAMETER]] | None = Field(
        None, description="The parameters that are perturbed, with the spaces of their new values."
    )
    quantile_fraction: Quantile = 0.25
    resample_probability: NonNegativeFloat = Field(
        0.25, description="Probability of a new draw from the space, in place of a perturbation."
    )
    perturbation_factors: Annotated[tuple[float, float], Strict(False)] = Field(
        (1.2, 0.8), description="Factors by which numbers are perturbed."
    )
    custom_explore_fn: str | None = Field(None, description="Custom function that perturbs the parameters.")
    log_config: LogConfig = True
    require_attrs: RequireAttributes = True
    synch: Synch = False

    @property
    def pauses(self) -> bool:
        return True


class PopulationReplayScheduler(Scheduler):
    """Replays the perturbations of an earlier pbt search."""

    type: Literal["pbt_replay"] = Field("pbt_replay", description="Replays an earlier pbt search.")
    policy_file: str | None = Field(None, description="Policy file of the earlier search.")


class PopulationBanditsScheduler(Scheduler):
    """PB2: population based training with perturbations chosen by a Gaussian process."""

    type: Literal["pb2"] = Field("pb2", description="PB2: population based bandits.")
    time_attr: TimeAttribute = "time_total_s"
    perturbation_interval: Interval = 60.0
    hyperparam_bounds: dict[str, Any] | None = Field(
        None, description="The parameters that are perturbed, with their bounds."
    )
    quantile_fraction: Quantile = 0.25
    log_config: LogConfig = True
    require_attrs: RequireAttributes = True
    synch: Synch = False


class ResourceChangingScheduler(Scheduler):
    """Changes the resources of trials while they run."""

    type: Literal["resource_changing"] = Field("resource_changing", description="Resources that are changed.")
    base_scheduler: str | None = Field(None, description="Scheduler for all other decisions. null: fifo.")
    resources_allocation_function: str | None = Field(None, description="Function that allocates the resources.")


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
