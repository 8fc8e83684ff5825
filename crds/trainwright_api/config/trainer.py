"""How the model is trained."""

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


class LearningRateScheduler(Section):
    """How the learning rate changes while training."""

    decay: Literal["linear", "exponential", "cosine"] | None = Field(
        None, description="Shape of the decay after the warm-up; null for none."
    )
    decay_rate: Fraction = Field(0.96, description="Factor of the exponential decay in decay_steps steps.")
    decay_steps: PositiveInt = Field(
        10000, description="Steps in which the exponential decay multiplies by decay_rate."
    )
    staircase: bool = Field(False, description="Whether the exponential decay goes in steps of decay_steps.")
    reduce_on_plateau: NonNegativeInt = Field(
        0, description="How often the rate may be reduced on a plateau; 0 for never."
    )
    reduce_on_plateau_patience: NonNegativeInt = Field(
        10, description="Evaluation rounds without improvement that make a plateau."
    )
    reduce_on_plateau_rate: Fraction = Field(0.1, description="Factor on the rate at each plateau.")
    warmup_evaluations: NonNegativeFloat = Field(0, description="Evaluation rounds in which the rate rises from 0.")
    warmup_fraction: Fraction = Field(0.0, description="Share of all steps in which the rate rises from 0.")
    reduce_eval_metric: str = Field("loss", min_length=1, description="Metric whose plateau reduces the rate.")
    reduce_eval_split: SplitName = Field("training", description="Split on which that metric is measured.")
    t_0: PositiveInt | None = Field(
        None, description="Steps to the cosine's first restart; null for one evaluation round."
    )
    t_mult: PositiveInt = Field(1, description="Factor on the steps from each cosine restart to the next.")
    eta_min: Fraction = Field(0.0, description="Lowest rate of the cosine.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.warmup_fraction and self.warmup_evaluations:
            yield relation(
                "give warmup_evaluations or warmup_fraction, not both", "warmup_fraction", found=self.warmup_fraction
            )


class GradientClipping(Section):
    """Bounds on the gradient; each acts where it is given."""

    clipglobalnorm: PositiveFloat | None = Field(0.5, description="Greatest norm of all gradients together.")
    clipnorm: PositiveFloat | None = Field(None, description="Greatest norm of each parameter's gradient.")
    clipvalue: PositiveFloat | None = Field(None, description="Greatest absolute value of a gradient's element.")


class Profiler(Section):
    """When torch's profiler records, in steps."""

    wait: NonNegativeInt = Field(1, description="Steps that a cycle begins with, unrecorded.")
    warmup: NonNegativeInt = Field(1, description="Steps recorded and thrown away.")
    active: NonNegativeInt = Field(3, description="Steps recorded and kept.")
    repeat: NonNegativeInt = Field(5, description="Number of cycles.")
    skip_first: Annotated[int, Field(ge=0, le=100)] = Field(0, description="Steps before the first cycle.")


class TrainerConfig(Section):
    """How the model is trained."""

    learning_rate: PositiveFloatOrAuto = Field(0.001, description="Size of the steps; auto tries several.")
    learning_rate_scheduler: LearningRateScheduler | None = Field(
        default_factory=LearningRateScheduler, description="How the rate changes; null for neither warm-up nor decay."
    )
    epochs: PositiveInt = Field(100, description="Passes over the training rows; train_steps comes before it.")
    checkpoints_per_epoch: NonNegativeInt = Field(0, description="Evaluation rounds in an epoch; 0 for one at its end.")
    train_steps: PositiveInt | None = Field(None, description="Number of steps; null for as many as epochs have.")
    eval_steps: PositiveInt | None = Field(None, description="Batches that an evaluation looks at; null for all.")
    steps_per_checkpoint: NonNegativeInt = Field(
        0, description="Steps from one evaluation round to the next; 0 for an epoch."
    )
    effective_batch_size: PositiveIntOrAuto = Field(
        "auto", description="Rows in a step over all workers and accumulated batches; auto follows from batch_size."
    )
    batch_size: PositiveIntOrAuto = Field(
        "auto",
        description="Rows of a worker's pass; auto measures, and takes the smallest of nearly the best speed.",
    )
    max_batch_size: PositiveInt | None = Field(1099511627776, description="Greatest batch size that auto may find.")
    gradient_accumulation_steps: PositiveIntOrAuto = Field("auto", description="Passes whose gradients make one step.")
    early_stop: Annotated[int, Field(ge=-1)] = Field(
        5, description="Evaluation rounds without improvement after which training stops; -1 never stops early."
    )
    eval_batch_size: CountOrAuto | None = Field(
        None, description="Rows of a pass in evaluation; null or 0 for batch_size, auto for the largest that fits."
    )
    evaluate_training_set: bool = Field(
        False, description="Whether each round evaluates the training rows anew instead of averaging over its steps."
    )
    validation_field: Name | None = Field(
        None, description="Output whose metric decides, or combined; null for the first output."
    )
    validation_metric: Name | None = Field(
        None, description="Metric that decides which round is best; null for the output's own."
    )
    optimizer: Annotated[Optimizer, OPTIMIZER] = Field(
        default_factory=OPTIMIZER.make, description="What turns gradients into steps."
    )
    regularization_type: Literal["l1", "l2", "l1_l2"] | None = Field("l2", description="Penalty on the weights.")
    regularization_lambda: Fraction = Field(0.0, description="Factor of that penalty; 0 for none.")
    should_shuffle: bool = Field(True, description="Whether each epoch has an order of its own.")
    increase_batch_size_on_plateau: NonNegativeInt = Field(
        0, description="How often the batch size may grow on a plateau."
    )
    increase_batch_size_on_plateau_patience: NonNegativeInt = Field(
        5, description="Evaluation rounds without improvement that make such a plateau."
    )
    increase_batch_size_on_plateau_rate: NonNegativeFloat = Field(
        2.0, description="Factor on the batch size at each plateau."
    )
    increase_batch_size_eval_metric: str = Field(
        "loss", min_length=1, description="Metric whose plateau makes the batch grow."
    )
    increase_batch_size_eval_split: SplitName = Field("training", description="Split on which that metric is measured.")
    gradient_clipping: GradientClipping | None = Field(
        default_factory=GradientClipping, description="Bounds on the gradient; null for none."
    )
    learning_rate_scaling: Literal["constant", "sqrt", "linear"] = Field(
        "linear", description="How the rate grows with the number of workers where effective_batch_size is auto."
    )
    bucketing_field: str | None = Field(
        None, min_length=1, description="Input by whose length batches are put together."
    )
    use_mixed_precision: bool = Field(
        False, description="Whether the model computes in half precision where it is safe."
    )
    precision: Literal["float32", "float64"] = Field("float32", description="Precision of weights and arithmetic.")
    compile: bool = Field(False, description="Whether torch.compile makes the model faster.")
    enable_gradient_checkpointing: bool = Field(False, description="Compute activations again instead of keeping them.")
    layers_to_freeze_regex: str | None = Field(None, description="Parameters whose names match are not trained.")
    skip_all_evaluation: bool = Field(False, description="Whether to train without any evaluation.")
    enable_profiling: bool = Field(False, description="Whether torch's profiler records steps.")
    profiler: Profiler = Field(default_factory=Profiler, description="When the profiler records.")

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
        yield from self._batch_mistakes()
        yield from self._pattern_mistakes()

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
