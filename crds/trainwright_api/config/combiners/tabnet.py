"""The combiner of TabNet."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from trainwright_api.config.combiners.base import Combiner
from trainwright_api.schema.fields import Dropout, NonNegativeFloat, NonNegativeInt, OutputSize, PositiveInt


class TabNetCombiner(Combiner):
    """Looks at few inputs at a time, in steps (TabNet)."""

    type: Literal["tabnet"] = Field("tabnet", description="Few inputs at a time, in steps.")
    size: PositiveInt = Field(32, description="Width of the hidden layers.")
    dropout: Dropout = 0.05
    output_size: OutputSize = 128
    num_steps: NonNegativeInt = Field(3, description="Number of steps.")
    num_total_blocks: NonNegativeInt = Field(4, description="Blocks of layers in each step.")
    num_shared_blocks: NonNegativeInt = Field(2, description="Those of them that all steps share.")
    relaxation_factor: NonNegativeFloat = Field(1.5, description="How often an input may be looked at; 1 for once.")
    bn_epsilon: NonNegativeFloat = Field(0.001, description="Added to the variance of the batch norm.")
    bn_momentum: NonNegativeFloat = Field(0.05, description="Weight of the newest batch in the running statistics.")
    bn_virtual_bs: PositiveInt | None = Field(1024, description="Rows of one ghost batch; null for the whole batch.")
    sparsity: NonNegativeFloat = Field(0.0001, description="Factor of the penalty on looking at many inputs.")
    entmax_mode: Literal["entmax15", "sparsemax", "constant", "adaptive"] = Field(
        "sparsemax", description="How the weights of the inputs are found."
    )
    entmax_alpha: float = Field(1.5, ge=1, le=2, description="Sharpness of the weights: softmax 1, sparsemax 2.")
