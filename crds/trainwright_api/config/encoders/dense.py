"""The encoders of numbers, binaries and vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.encoders.base import Encoder
from trainwright_api.config.initializers import BiasInitializer, WeightsInitializer
from trainwright_api.config.layers import FcLayers, OptionalNormParams, stack_mistakes
from trainwright_api.schema.fields import Activation, Dropout, InputSize, Norm, NumLayers, OutputSize, UseBias


class PassthroughEncoder(Encoder):
    """Returns the value unchanged."""

    type: Literal["passthrough"] = Field("passthrough", description="Returns the value unchanged.")


class DenseEncoder(Encoder):
    """A stack of fully connected layers."""

    type: Literal["dense"] = Field("dense", description="A stack of fully connected layers.")
    dropout: Dropout = 0.0
    activation: Activation = "relu"
    input_size: InputSize = None
    output_size: OutputSize = 256
    use_bias: UseBias = True
    bias_initializer: BiasInitializer = "zeros"
    weights_initializer: WeightsInitializer = "xavier_uniform"
    norm: Norm = None
    norm_params: OptionalNormParams = None
    num_layers: NumLayers = 1
    fc_layers: FcLayers = None

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from stack_mistakes(self, "num_layers")
