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
    """Learnt vectors for the parts of the cell: mode, edge, resolution, base cell and the cells below it."""

    dropout: Dropout = 0.0
    activation: Activation = "relu"
    use_bias: UseBias = True
    bias_initializer: BiasInitializer = "zeros"
    weights_initializer: WeightsInitializer = "xavier_uniform"
    embedding_size: EmbeddingSize = 10
    embeddings_on_cpu: EmbeddingsOnCpu = False


class H3StackEncoder(H3Encoder):
    """Fully connected layers after the vectors have become one."""

    output_size: OutputSize = 10
    norm: BatchOrLayerNorm = None
    norm_params: OptionalNormParams = None
    num_fc_layers: NumFcLayers = 0
    fc_layers: FcLayers = None

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from stack_mistakes(self, "num_fc_layers")


class H3EmbedEncoder(H3StackEncoder):
    """The parts' vectors, reduced to one."""

    type: Literal["embed"] = Field("embed", description="The parts' vectors, reduced to one.")
    reduce_output: ReduceOutput = "sum"


class H3WeightedSumEncoder(H3StackEncoder):
    """The sum of the parts' vectors with learnt weights."""

    type: Literal["weighted_sum"] = Field("weighted_sum", description="The parts' vectors, summed with learnt weights.")
    should_softmax: bool = Field(False, description="Whether the weights pass through a softmax.")


class H3RNNEncoder(H3Encoder):
    """The parts' vectors, read by a recurrent network."""

    type: Literal["rnn"] = Field("rnn", description="The parts' vectors, read by a recurrent network.")
    activation: Activation = "tanh"
    recurrent_dropout: RecurrentDropout = 0.0
    recurrent_activation: RecurrentActivation = "sigmoid"
    cell_type: Literal["rnn", "lstm", "lstm_block", "ln", "lstm_cudnn", "gru", "gru_block", "gru_cudnn"] = Field(
        "rnn", description="Kind of the recurrent cell."
    )
    num_layers: NumLayers = 1
    hidden_size: PositiveInt = Field(10, description="Width of the recurrent state.")
    unit_forget_bias: UnitForgetBias = True
    recurrent_initializer: RecurrentInitializer = "orthogonal"
    reduce_output: ReduceOutput = "last"
    bidirectional: Bidirectional = False
