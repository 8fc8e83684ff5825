"""The fields of recurrent and convolutional layers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trainwright_api.config.initializers import BiasInitializer, WeightsInitializer
from trainwright_api.config.layers import OptionalNormParams
from trainwright_api.schema.fields import (
    Activation,
    ActivationWord,
    BatchOrLayerNorm,
    Dropout,
    Fraction,
    PositiveInt,
    UseBias,
    nullable,
)
from trainwright_api.schema.section import Section

RecurrentDropout = Annotated[Fraction, Field(description="Dropout rate of the recurrent state.")]
RecurrentActivation = Annotated[ActivationWord | None, Field(description="Activation function of the recurrent gates.")]
CellType = Annotated[Literal["rnn", "lstm", "gru"], Field(description="Type of the recurrent cell.")]
StateSize = Annotated[PositiveInt, Field(description="Size of the recurrent state.")]
Bidirectional = Annotated[bool, Field(description="Read the sequence in both directions.")]
UnitForgetBias = Annotated[bool, Field(description="Initialise the bias of the forget gate to 1.")]

PoolWord = Literal["max", "average", "avg", "mean"]
NumFilters = Annotated[PositiveInt, Field(description="Number of filters, which is the width of the output.")]
FilterSize = Annotated[PositiveInt, Field(description="Size of a filter in steps.")]
PoolFunction = Annotated[PoolWord, Field(description="Pooling function.")]
PoolSize = Annotated[PositiveInt | None, Field(description="Size of the pooling window in steps. null: no pooling.")]
Strides = Annotated[PositiveInt, Field(description="Stride of the filter in steps.")]
Padding = Annotated[Literal["valid", "same"], Field(description="Padding of the ends: same or valid (none).")]
DilationRate = Annotated[PositiveInt, Field(description="Dilation of the filter in steps.")]
PoolStrides = Annotated[PositiveInt | None, Field(description="Stride of the pooling in steps. null: pool_size.")]
NumConvLayers = Annotated[PositiveInt | None, Field(description="Number of convolutions. null: the default stack.")]


class ConvLayer(Section):
    """One convolution of a stack. A missing field takes the encoder's value."""

    num_filters: NumFilters | None = nullable(NumFilters)
    filter_size: FilterSize | None = nullable(FilterSize)
    strides: Strides | None = nullable(Strides)
    padding: Padding | None = nullable(Padding)
    dilation_rate: DilationRate | None = nullable(DilationRate)
    use_bias: UseBias | None = nullable(UseBias)
    weights_initializer: WeightsInitializer | None = nullable(WeightsInitializer)
    bias_initializer: BiasInitializer | None = nullable(BiasInitializer)
    norm: BatchOrLayerNorm = None
    norm_params: OptionalNormParams = None
    activation: Activation = None
    dropout: Dropout | None = nullable(Dropout)
    pool_function: PoolFunction | None = nullable(PoolFunction)
    pool_size: PoolSize = None
    pool_strides: PoolStrides = None
    pool_padding: Padding | None = nullable(Padding)


ConvLayers = Annotated[
    list[ConvLayer] | None, Field(description="A list of convolutions. It replaces num_conv_layers.")
]
StackedLayers = Annotated[
    list[list[ConvLayer]] | None, Field(description="A list of layers, each a list of parallel convolutions.")
]
