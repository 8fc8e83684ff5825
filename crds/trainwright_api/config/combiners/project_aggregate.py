"""The combiner that projects and averages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.combiners.base import Combiner
from trainwright_api.config.initializers import BiasInitializer, WeightsInitializer
from trainwright_api.config.layers import FcLayers, OptionalNormParams, stack_mistakes
from trainwright_api.schema.fields import (
    Activation,
    BatchOrLayerNorm,
    Dropout,
    NumFcLayers,
    OutputSize,
    PositiveInt,
    Residual,
    UseBias,
)


class ProjectAggregateCombiner(Combiner):
    """Projects each encoder output to one width and averages the projections."""

    type: Literal["project_aggregate"] = Field(
        "project_aggregate", description="Averages the projected encoder outputs."
    )
    projection_size: PositiveInt = Field(128, description="Width of the projection of each input.")
    residual: Residual = True
    dropout: Dropout = 0.0
    activation: Activation = "relu"
    num_fc_layers: NumFcLayers = 2
    output_size: OutputSize = 128
    norm: BatchOrLayerNorm = "layer"
    norm_params: OptionalNormParams = None
    fc_layers: FcLayers = None
    use_bias: UseBias = True
    bias_initializer: BiasInitializer = "zeros"
    weights_initializer: WeightsInitializer = "xavier_uniform"

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from stack_mistakes(self, "num_fc_layers")
