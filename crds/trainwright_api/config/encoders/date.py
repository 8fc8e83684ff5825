"""The encoders of dates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.encoders.base import Encoder
from trainwright_api.config.initializers import BiasInitializer, WeightsInitializer
from trainwright_api.config.layers import FcLayers, OptionalNormParams, stack_mistakes
from trainwright_api.schema.fields import (
    Activation,
    BatchOrLayerNorm,
    Dropout,
    EmbeddingSize,
    EmbeddingsOnCpu,
    NumFcLayers,
    OutputSize,
    UseBias,
)


class DateEmbedEncoder(Encoder):
    """Embeds each part of the date (month, day, weekday and so on), then applies fully connected layers."""

    type: Literal["embed"] = Field("embed", description="Embeds each part of the date.")
    dropout: Dropout = 0.0
    activation: Activation = "relu"
    use_bias: UseBias = True
    bias_initializer: BiasInitializer = "zeros"
    weights_initializer: WeightsInitializer = "xavier_uniform"
    embedding_size: EmbeddingSize = 10
    embeddings_on_cpu: EmbeddingsOnCpu = False
    output_size: OutputSize = 10
    norm: BatchOrLayerNorm = None
    norm_params: OptionalNormParams = None
    num_fc_layers: NumFcLayers = 0
    fc_layers: FcLayers = None

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from stack_mistakes(self, "num_fc_layers")


class DateWaveEncoder(Encoder):
    """Encodes each part of the date as a periodic value, then applies fully connected layers."""

    type: Literal["wave"] = Field("wave", description="Encodes each part of the date as a periodic value.")
    dropout: Dropout = 0.0
    activation: Activation = "relu"
    use_bias: UseBias = True
    bias_initializer: BiasInitializer = "zeros"
    weights_initializer: WeightsInitializer = "xavier_uniform"
    output_size: OutputSize = 10
    norm: BatchOrLayerNorm = None
    norm_params: OptionalNormParams = None
    num_fc_layers: Annotated[int, Field(ge=1, description="Number of stacked fully connected layers.")] = 1
    fc_layers: FcLayers = None

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from stack_mistakes(self, "num_fc_layers")
