"""The encoders of cells of the H3 grid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.encoders.base import Encoder
from trainwright_api.config.encoders.recurrent import (
    Bidirectional,
    RecurrentActivation,
    RecurrentDropout,
    UnitForgetBias,
)
from trainwright_api.config.initializers import BiasInitializer, RecurrentInitializer, WeightsInitializer
from trainwright_api.config.layers import FcLayers, OptionalNormParams, stack_mistakes
from trainwright_api.schema.fields import (
    Activation,
    BatchOrLayerNorm,
    Dropout,
    EmbeddingSize,
    EmbeddingsOnCpu,
    NumFcLayers,
    NumLayers,
    OutputSize,
    PositiveInt,
    ReduceOutput,
    UseBias,
)


class H3Encoder(Encoder):
    """Embeds each part of the H3 cell: mode, edge, resolution, base cell and child cells."""

    dropout: Dropout = 0.0
    activation: Activation = "relu"
    use_bias: UseBias = True
    bias_initializer: BiasInitializer = "zeros"
    weights_initializer: WeightsInitializer = "xavier_uniform"
    embedding_size: EmbeddingSize = 10
    embeddings_on_cpu: EmbeddingsOnCpu = False


class H3StackEncoder(H3Encoder):
    """Fully connected layers after the reduction."""

    output_size: OutputSize = 10
    norm: BatchOrLayerNorm = None
    norm_params: OptionalNormParams = None
    num_fc_layers: NumFcLayers = 0
    fc_layers: FcLayers = None

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from stack_mistakes(self, "num_fc_layers")


class H3EmbedEncoder(H3StackEncoder):
    """Embeds the parts of the cell and reduces them to one vector."""

    type: Literal["embed"] = Field("embed", description="Embeds the parts of the cell and reduces them to one vector.")
    reduce_output: ReduceOutput = "sum"


class H3WeightedSumEncoder(H3StackEncoder):
    """Embeds the parts of the cell and sums them with learned weights."""

    type: Literal["weighted_sum"] = Field(
        "weighted_sum", description="Sums the embeddings of the parts with learned weights."
    )
    should_softmax: bool = Field(False, description="Apply a softmax to the weights.")


class H3RNNEncoder(H3Encoder):
    """Embeds the parts of the cell and reads them with a recurrent network."""

    type: Literal["rnn"] = Field(
        "rnn", description="Embeds the parts of the cell and reads them with a recurrent network."
    )
    activation: Activation = "tanh"
    recurrent_dropout: RecurrentDropout = 0.0
    recurrent_activation: RecurrentActivation = "sigmoid"
    cell_type: Literal["rnn", "lstm", "lstm_block", "ln", "lstm_cudnn", "gru", "gru_block", "gru_cudnn"] = Field(
        "rnn", description="Type of the recurrent cell."
    )
    num_layers: NumLayers = 1
    hidden_size: PositiveInt = Field(10, description="Size of the recurrent state.")
    unit_forget_bias: UnitForgetBias = True
    recurrent_initializer: RecurrentInitializer = "orthogonal"
    reduce_output: ReduceOutput = "last"
    bidirectional: Bidirectional = False
