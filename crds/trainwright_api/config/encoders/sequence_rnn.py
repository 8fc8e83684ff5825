"""The recurrent encoders of sequences."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from trainwright_api.config.encoders.recurrent import (
    Bidirectional,
    CellType,
    ConvLayers,
    DilationRate,
    FilterSize,
    NumConvLayers,
    NumFilters,
    Padding,
    PoolFunction,
    PoolSize,
    PoolStrides,
    RecurrentActivation,
    RecurrentDropout,
    StateSize,
    Strides,
    UnitForgetBias,
)
from trainwright_api.config.encoders.sequence import NormedEncoder
from trainwright_api.config.initializers import RecurrentInitializer
from trainwright_api.schema.fields import Activation, Dropout, NumLayers


class RecurrentEncoder(NormedEncoder):
    """A recurrent network, then fully connected layers."""

    recurrent_dropout: RecurrentDropout = 0.0
    activation: Activation = "tanh"
    recurrent_activation: RecurrentActivation = "sigmoid"
    cell_type: CellType = "rnn"
    state_size: StateSize = 256
    bidirectional: Bidirectional = False
    unit_forget_bias: UnitForgetBias = True
    recurrent_initializer: RecurrentInitializer = "orthogonal"


class StackedRNNEncoder(RecurrentEncoder):
    """A recurrent network."""

    type: Literal["rnn"] = Field("rnn", description="A recurrent network.")
    num_layers: NumLayers = 1


class StackedCNNRNNEncoder(RecurrentEncoder):
    """1D convolutions, then a recurrent network."""

    type: Literal["cnnrnn"] = Field("cnnrnn", description="1D convolutions, then a recurrent network.")
    conv_dropout: Dropout = 0.0
    conv_activation: Activation = "relu"
    num_conv_layers: NumConvLayers = None
    conv_layers: ConvLayers = None
    num_filters: NumFilters = 256
    filter_size: FilterSize = 5
    pool_function: PoolFunction = "max"
    pool_size: PoolSize = 2
    strides: Strides = 1
    padding: Padding = "same"
    dilation_rate: DilationRate = 1
    pool_strides: PoolStrides = None
    pool_padding: Padding = "same"
    num_rec_layers: NumLayers = 1
