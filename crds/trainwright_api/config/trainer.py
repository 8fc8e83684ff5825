"""The training parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.optimizers import OPTIMIZERS, Optimizer
from trainwright_api.schema.choice import Choice
from trainwright_api.schema.fields import Fraction, Name, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt
from trainwright_api.schema.section import Section, relation
from trainwright_api.schema.unions import CountOrAuto, PositiveFloatOrAuto, PositiveIntOrAuto

SplitName = Literal["training", "validation", "test"]
OPTIMIZER = Choice("optimizer", "trainwright_api.config", OPTIMIZERS, default="adam")

_OF_DECAYS = {
    **dict.fromkeys(("decay_rate", "decay_steps", "staircase"), "exponential"),
    **dict.fromkeys(("t_0", "t_mult", "eta_min"), "cosine"),
}
"""Fields of the schedule → the decay with which they act."""


class LearningRateScheduler(Section):
    """The learning rate schedule."""

    decay: Literal["linear", "exponential", "cosine"] | None = Field(
        None, description="Type of the decay after the warm-up. null: none."
    )
    decay_rate: Fraction = Field(0.96, description="Factor of the exponential decay over decay_steps steps.")
    decay_steps: PositiveInt = Field(
        10000, description="Number of steps over which the exponential decay multiplies the rate by decay_rate."
    )
    staircase: bool = Field(False, description="Decay only once every decay_steps steps.")
    reduce_on_plateau: NonNegativeInt = Field(
        0, description="Maximum number of reductions on a plateau. 0: never reduce."
    )
    reduce_on_plateau_patience: NonNegativeInt = Field(
        10, description="Number of evaluations without improvement that are waited for. One more is a plateau."
    )
    reduce_on_plateau_rate: Fraction = Field(0.1, description="Factor on the learning rate at each plateau.")
    warmup_evaluations: NonNegativeFloat = Field(0, description="Length of the linear warm-up from 0, in evaluations.")
    warmup_fraction: Fraction = Field(
        0.0, description="Length of the linear warm-up from 0, as a fraction of all steps."
    )
    reduce_eval_metric: str = Field(
        "loss",
        min_length=1,
        description="Metric that is monitored for a plateau. Where the rows do not define it, the loss is.",
    )
    reduce_eval_split: SplitName = Field("training", description="Split on which this metric is measured.")
    t_0: PositiveInt | None = Field(
        None, description="Number of steps to the first restart of the cosine. null: one evaluation interval."
    )
    t_mult: PositiveInt = Field(1, description="Factor on the number of steps after each restart of the cosine.")
    eta_min: Fraction = Field(0.0, description="Minimum learning rate of the cosine.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.warmup_fraction and self.warmup_evaluations:
            yield relation(
                "give warmup_evaluations or warmup_fraction, not both", "warmup_fraction", found=self.warmup_fraction
            )
        for name, decay in _OF_DECAYS.items():
            found = getattr(self, name)
            if self.decay != decay and found != type(self).model_fields[name].default:
                yield relation(f"acts only with decay {decay}, and decay is {self.decay or 'null'}", name, found=found)


class GradientClipping(Section):
    """Gradient clipping. Each limit that is set applies."""

    clipglobalnorm: PositiveFloat | None = Field(0.5, description="Maximum norm of all gradients together.")
    clipnorm: PositiveFloat | None = Field(None, description="Maximum norm of each parameter's gradient.")
    clipvalue: PositiveFloat | None = Field(None, description="Maximum absolute value of each gradient element.")


class Profiler(Section):
    """Schedule of torch's profiler, in steps."""

    wait: NonNegativeInt = Field(1, description="Number of idle steps at the start of a cycle.")
    warmup: NonNegativeInt = Field(1, description="Number of steps that are recorded and discarded.")
    active: NonNegativeInt = Field(3, description="Number of steps that are recorded and kept.")
    repeat: NonNegativeInt = Field(5, description="Number of cycles.")
    skip_first: Annotated[int, Field(ge=0, le=100)] = Field(0, description="Number of steps before the first cycle.")


class TrainerConfig(Section):
    """The training parameters."""

    learning_rate: PositiveFloatOrAuto = Field(0.001, description="Learning rate. auto: several are tried.")
    learning_rate_scheduler: LearningRateScheduler | None = Field(
        default_factory=LearningRateScheduler, description="The learning rate schedule. null: no warm-up and no decay."
    )
    epochs: PositiveInt = Field(100, description="Number of epochs. train_steps takes precedence.")
    checkpoints_per_epoch: NonNegativeInt = Field(
        0, description="Number of evaluations in an epoch. 0: one at its end."
    )
    train_steps: PositiveInt | None = Field(None, description="Number of training steps. null: given by epochs.")
    eval_steps: PositiveInt | None = Field(None, description="Number of batches in an evaluation. null: all.")
    steps_per_checkpoint: NonNegativeInt = Field(
        0, description="Number of steps between two evaluations, an epoch at most. 0: one epoch."
    )
    effective_batch_size: PositiveIntOrAuto = Field(
        "auto",
        description="Global batch size: rows in a step over all workers and accumulated batches. auto: derived "
        "from batch_size.",
    )
    batch_size: PositiveIntOrAuto = Field(
        "auto",
        description="Rows in a forward pass of one worker. auto: measure, then take the smallest size with "
        "nearly the best speed.",
    )
    max_batch_size: PositiveInt | None = Field(1099511627776, description="Maximum batch size that auto may select.")
    gradient_accumulation_steps: PositiveIntOrAuto = Field(
        "auto", description="Number of forward and backward passes in one optimizer step."
    )
    early_stop: Annotated[int, Field(ge=-1)] = Field(
        5,
        description="Number of evaluations without improvement after which training stops. 0 or -1: never stop early.",
    )
    eval_batch_size: CountOrAuto | None = Field(
        None, description="Rows in a forward pass of an evaluation. null or 0: batch_size. auto: the largest that fits."
    )
    evaluate_training_set: bool = Field(
        False, description="Evaluate the training rows again instead of averaging the metrics of the training steps."
    )
    validation_field: Name | None = Field(
        None, description="Name of the output whose metric selects the best epoch, or combined. null: the first output."
    )
    validation_metric: Name | None = Field(
        None,
        description=(
            "Metric that selects the best epoch. null: the output's; "
            "the loss below 1,000 validation rows, or without a value."
        ),
    )
    optimizer: Annotated[Optimizer, OPTIMIZER] = Field(default_factory=OPTIMIZER.make, description="The optimizer.")
    regularization_type: Literal["l1", "l2", "l1_l2"] | None = Field(
        "l2", description="Type of the regularization of the weights. null: none."
    )
    regularization_lambda: Fraction = Field(0.0, description="Coefficient of the regularization. 0: none.")
    should_shuffle: bool = Field(True, description="Shuffle the rows in each epoch.")
    increase_batch_size_on_plateau: NonNegativeInt = Field(
        0, description="Maximum number of increases of the batch size on a plateau."
    )
    increase_batch_size_on_plateau_patience: NonNegativeInt = Field(
        5, description="Number of evaluations without improvement that form such a plateau."
    )
    increase_batch_size_on_plateau_rate: NonNegativeFloat = Field(
        2.0, description="Factor on the batch size at each plateau."
    )
    increase_batch_size_eval_metric: str = Field(
        "loss", min_length=1, description="Metric that is monitored for such a plateau."
    )
    increase_batch_size_eval_split: SplitName = Field("training", description="Split on which this metric is measured.")
    gradient_clipping: GradientClipping | None = Field(
        default_factory=GradientClipping, description="Gradient clipping. null: none."
    )
    learning_rate_scaling: Literal["constant", "sqrt", "linear"] = Field(
        "linear", description="Scaling of the learning rate with the number of workers if effective_batch_size is auto."
    )
    bucketing_field: str | None = Field(
        None,
        min_length=1,
        description="Name of the text or sequence by whose length rows are grouped into batches. null: random batches.",
    )
    use_mixed_precision: bool = Field(False, description="Automatic mixed precision in steps and evaluation rounds.")
    precision: Literal["float32", "tf32", "float64"] = Field(
        "float32",
        description="Data type of the weights and the computation; tf32 is float32 with fast products of 10 bits "
        "(TF32) on an NVIDIA GPU.",
    )
    compile: bool = Field(False, description="Compile the model with torch.compile.")
    enable_gradient_checkpointing: bool = Field(
        False, description="Activation checkpointing: recompute activations in the backward pass to save memory."
    )
    layers_to_freeze_regex: str | None = Field(
        None, description="Regular expression. Parameters whose names match are frozen."
    )
    skip_all_evaluation: bool = Field(False, description="Train without evaluations.")
    enable_profiling: bool = Field(False, description="Record steps with torch's profiler.")
    profiler: Profiler = Field(default_factory=Profiler, description="The schedule of the profiler.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.steps_per_checkpoint and self.checkpoints_per_epoch:
            yield relation(
                "give steps_per_checkpoint or checkpoints_per_epoch, not both",
                "checkpoints_per_epoch",
                found=self.checkpoints_per_epoch,
            )
        if self.use_mixed_precision and self.precision == "float64":
            yield relation(
                "mixed precision computes in half precision; take float32", "precision", found=self.precision
            )
        if self.enable_gradient_checkpointing and self.compile:
            yield relation("compile decides itself what is recomputed: choose one", "enable_gradient_checkpointing")
        yield from self._rate_mistakes()
        yield from self._batch_mistakes()
        yield from self._pattern_mistakes()

    def _rate_mistakes(self) -> Iterator[InitErrorDetails]:
        rate, schedule = self.learning_rate, self.learning_rate_scheduler
        if rate != "auto" and schedule is not None and schedule.decay == "cosine" and schedule.eta_min > rate:
            message = f"{schedule.eta_min:g} is above learning_rate {rate:g}: the rate would rise"
            yield relation(message, "learning_rate_scheduler", "eta_min", found=schedule.eta_min)

    def _batch_mistakes(self) -> Iterator[InitErrorDetails]:
        whole = self.effective_batch_size
        if whole == "auto":
            return
        parts = {"batch_size": self.batch_size, "gradient_accumulation_steps": self.gradient_accumulation_steps}
        given = {name: part for name, part in parts.items() if part != "auto"}
        if whole % prod(given.values()):
            product = " × ".join(f"{name} {part}" for name, part in given.items())
            yield relation(f"{whole} is no multiple of {product}", "effective_batch_size", found=whole)
        if self.max_batch_size is not None and whole > self.max_batch_size:
            yield relation(
                f"effective_batch_size {whole} is above max_batch_size {self.max_batch_size}",
                "effective_batch_size",
                found=whole,
            )

    def _pattern_mistakes(self) -> Iterator[InitErrorDetails]:
        try:
            re.compile(self.layers_to_freeze_regex or "")
        except re.error as error:
            yield relation(
                f"no regular expression: {error}", "layers_to_freeze_regex", found=self.layers_to_freeze_regex
            )
