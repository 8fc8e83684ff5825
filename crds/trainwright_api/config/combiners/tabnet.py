"""The combiner of TabNet."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from trainwright_api.config.combiners.base import Combiner
from trainwright_api.schema.fields import Dropout, NonNegativeFloat, NonNegativeInt, OutputSize, PositiveInt


class TabNetCombiner(Combiner):
    """TabNet: sequential attention selects a few inputs in each step."""

    type: Literal["tabnet"] = Field("tabnet", description="TabNet: sequential attention over the inputs.")
    size: PositiveInt = Field(32, description="Width of the hidden layers.")
    dropout: Dropout = 0.05
    output_size: OutputSize = 128
    num_steps: NonNegativeInt = Field(3, description="Number of steps.")
    num_total_blocks: NonNegativeInt = Field(4, description="Number of feature blocks in each step.")
    num_shared_blocks: NonNegativeInt = Field(2, description="Number of these blocks that all steps share.")
    relaxation_factor: NonNegativeFloat = Field(
        1.5, description="Relaxation factor: how often an input may be selected. 1: in one step only."
    )
    bn_epsilon: NonNegativeFloat = Field(0.001, description="Epsilon of the batch norm, added to the variance.")
    bn_momentum: NonNegativeFloat = Field(
        0.05, description="Momentum of the batch norm: the weight of the newest batch in the running statistics."
    )
    bn_virtual_bs: PositiveInt | None = Field(
        1024, description="Rows of one virtual batch of ghost norm. null: the whole batch."
    )
    sparsity: NonNegativeFloat = Field(
        0.0001, description="Coefficient of the sparsity penalty on the attention masks."
    )
    entmax_mode: Literal["entmax15", "sparsemax", "constant", "adaptive"] = Field(
        "sparsemax", description="Function that computes the attention masks."
    )
    entmax_alpha: float = Field(1.5, ge=1, le=2, description="Alpha of entmax: 1 equals softmax, 2 equals sparsemax.")
