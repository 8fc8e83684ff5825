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

RecurrentDropout = Annotated[Fraction, Field(description="Share of the recurrent state set to zero while training.")]
RecurrentActivation = Annotated[ActivationWord | None, Field(description="Function within the recurrent cell's gates.")]
CellType = Annotated[Literal["rnn", "lstm", "gru"], Field(description="Kind of the recurrent cell.")]
StateSize = Annotated[PositiveInt, Field(description="Width of the recurrent state.")]
Bidirectional = Annotated[bool, Field(description="Whether a second network reads from the end.")]
UnitForgetBias = Annotated[bool, Field(description="Whether the forget gate's bias begins at 1.")]

PoolWord = Literal["max", "average", "avg", "mean"]
NumFilters = Annotated[PositiveInt, Field(description="Number of filters, and so the width of the output.")]
FilterSize = Annotated[PositiveInt, Field(description="Steps of the sequence that one filter sees.")]
PoolFunction = Annotated[PoolWord, Field(description="How a pool becomes one value.")]
PoolSize = Annotated[PositiveInt | None, Field(description="Steps of one pool; null for no pooling.")]
Strides = Annotated[PositiveInt, Field(description="Steps from one place of the filter to the next.")]
Padding = Annotated[Literal["valid", "same"], Field(description="Whether the ends are padded (same) or not (valid).")]
DilationRate = Annotated[PositiveInt, Field(description="Distance of the steps that a filter sees.")]
PoolStrides = Annotated[PositiveInt | None, Field(description="Steps from one pool to the next; null for pool_size.")]
NumConvLayers = Annotated[PositiveInt | None, Field(description="Number of convolutions; null for the usual stack.")]


class ConvLayer(Section):
    """One convolution of a stack; what is absent is taken from the encoder's own fields."""

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
    list[ConvLayer] | None, Field(description="The convolutions one by one, instead of their number.")
]
StackedLayers = Annotated[
    list[list[ConvLayer]] | None, Field(description="The parallel convolutions of each layer, one by one.")
]
