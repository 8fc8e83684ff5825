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
    """Learnt vectors for month, day, weekday and the like, then fully connected layers."""

    type: Literal["embed"] = Field("embed", description="Learnt vectors for the parts of the date.")
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
    """Sines of the parts of the date with their natural periods, then fully connected layers."""

    type: Literal["wave"] = Field("wave", description="Waves with the natural periods of the parts of the date.")
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
