"""The convolutional encoders of sequences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.encoders.recurrent import (
    ConvLayers,
    DilationRate,
    FilterSize,
    NumConvLayers,
    NumFilters,
    Padding,
    PoolFunction,
    PoolSize,
    PoolStrides,
    StackedLayers,
    Strides,
)
from trainwright_api.config.encoders.sequence import LayeredEncoder
from trainwright_api.config.layers import FcLayers, OptionalNormParams, stack_mistakes
from trainwright_api.schema.fields import Activation, BatchOrLayerNorm, OptionalNumFcLayers, PositiveInt


class CNNEncoder(LayeredEncoder):
    """1D convolutions, then fully connected layers."""

    activation: Activation = "relu"
    num_filters: NumFilters = 256
    filter_size: FilterSize = 3
    pool_function: PoolFunction = "max"
    pool_size: PoolSize = None
    norm: BatchOrLayerNorm = None
    norm_params: OptionalNormParams = None
    num_fc_layers: OptionalNumFcLayers = None
    fc_layers: FcLayers = None

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from stack_mistakes(self, "num_fc_layers")


class ParallelCNNEncoder(CNNEncoder):
    """Parallel 1D convolutions with several filter sizes."""

    type: Literal["parallel_cnn"] = Field(
        "parallel_cnn", description="Parallel 1D convolutions with several filter sizes."
    )
    num_conv_layers: NumConvLayers = None
    conv_layers: ConvLayers = None


class StackedCNNEncoder(CNNEncoder):
    """Stacked convolutions."""

    type: Literal["stacked_cnn"] = Field("stacked_cnn", description="Stacked convolutions.")
    num_conv_layers: NumConvLayers = None
    conv_layers: ConvLayers = None
    strides: Strides = 1
    padding: Padding = "same"
    dilation_rate: DilationRate = 1
    pool_strides: PoolStrides = None
    pool_padding: Padding = "same"


class StackedParallelCNNEncoder(CNNEncoder):
    """Stacked layers of parallel 1D convolutions."""

    type: Literal["stacked_parallel_cnn"] = Field(
        "stacked_parallel_cnn", description="Stacked layers of parallel 1D convolutions."
    )
    num_stacked_layers: Annotated[PositiveInt | None, Field(description="Number of layers. null: 3.")] = None
    stacked_layers: StackedLayers = None
