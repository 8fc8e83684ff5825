"""The combiner that concatenates vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.combiners.base import Combiner
from trainwright_api.config.initializers import BiasInitializer, WeightsInitializer
from trainwright_api.config.layers import FcLayers, OptionalNormParams, stack_mistakes
from trainwright_api.schema.fields import Activation, Dropout, Norm, NumFcLayers, OutputSize, Residual, UseBias


class ConcatCombiner(Combiner):
    """Concatenates the encoder outputs, then applies fully connected layers."""

    type: Literal["concat"] = Field("concat", description="Concatenates the encoder outputs.")
    dropout: Dropout = 0.0
    activation: Activation = "relu"
    flatten_inputs: bool = Field(False, description="Flatten encoder outputs with more than one dimension.")
    residual: Residual = False
    use_bias: UseBias = True
    bias_initializer: BiasInitializer = "zeros"
    weights_initializer: WeightsInitializer = "xavier_uniform"
    num_fc_layers: NumFcLayers = 0
    output_size: OutputSize = 256
    norm: Norm = None
    norm_params: OptionalNormParams = None
    fc_layers: FcLayers = None

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from stack_mistakes(self, "num_fc_layers")
