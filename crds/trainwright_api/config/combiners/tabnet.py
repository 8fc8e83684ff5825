"""The combiner of TabNet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.combiners.base import Combiner
from trainwright_api.schema.fields import (
    Dropout,
    Fraction,
    NonNegativeFloat,
    NonNegativeInt,
    OutputSize,
    PositiveFloat,
    PositiveInt,
)
from trainwright_api.schema.section import relation


class TabNetCombiner(Combiner):
    """TabNet: sequential attention selects a few inputs in each step."""

    type: Literal["tabnet"] = Field("tabnet", description="TabNet: sequential attention over the inputs.")
    size: PositiveInt = Field(32, description="Width of the hidden layers.")
    dropout: Dropout = 0.05
    output_size: OutputSize = 128
    num_steps: PositiveInt = Field(3, description="Number of steps.")
    num_total_blocks: PositiveInt = Field(4, description="Number of feature blocks in each step.")
    num_shared_blocks: NonNegativeInt = Field(2, description="Number of these blocks that all steps share.")
    relaxation_factor: NonNegativeFloat = Field(
        1.5, description="Relaxation factor: how often an input may be selected. 1: in one step only."
    )
    bn_epsilon: PositiveFloat = Field(0.001, description="Epsilon of the batch norm, added to the variance.")
    bn_momentum: Fraction = Field(
        0.05, description="Momentum of the batch norm: the weight of the newest batch in the running statistics."
    )
    bn_virtual_bs: Annotated[int, Field(ge=2)] | None = Field(
        1024, description="Rows of one virtual batch of ghost norm, at most batch_size. null: the whole batch."
    )
    sparsity: NonNegativeFloat = Field(
        0.0001, description="Coefficient of the sparsity penalty on the attention masks."
    )
    entmax_mode: Literal["entmax15", "sparsemax", "constant", "adaptive"] = Field(
        "sparsemax", description="Function that computes the attention masks."
    )
    entmax_alpha: float = Field(
        1.5,
        ge=1,
        le=2,
        description="Alpha of entmax_mode constant: 1 is softmax, 2 sparsemax. adaptive begins with it.",
    )

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.num_shared_blocks > self.num_total_blocks:
            message = f"there are {self.num_total_blocks} blocks (num_total_blocks): they cannot share more"
            yield relation(message, "num_shared_blocks", found=self.num_shared_blocks)
        if self.entmax_mode == "adaptive" and self.entmax_alpha in (1, 2):
            message = "entmax_mode adaptive learns an alpha between 1 and 2: begin with a number between them"
            yield relation(message, "entmax_alpha", found=self.entmax_alpha)
