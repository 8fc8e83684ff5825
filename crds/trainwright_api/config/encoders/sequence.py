"""The encoders of sequences: what they share, and those without convolution or recurrence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.encoders.base import Encoder
from trainwright_api.config.initializers import BiasInitializer, WeightsInitializer
from trainwright_api.config.layers import FcLayers, OptionalNormParams, stack_mistakes
from trainwright_api.schema.fields import (
    Activation,
    Dropout,
    EmbeddingSize,
    EmbeddingsOnCpu,
    EmbeddingsTrainable,
    MaxSequenceLength,
    Norm,
    NumFcLayers,
    NumLayers,
    OutputSize,
    PositiveInt,
    PretrainedEmbeddings,
    ReduceOutput,
    Representation,
    UseBias,
    Vocab,
)
from trainwright_api.schema.section import relation


class SequenceEncoder(Encoder):
    """An encoder of sequences."""

    max_sequence_length: MaxSequenceLength = None


class SequencePassthroughEncoder(SequenceEncoder):
    """Hands the steps on as they are."""

    type: Literal["passthrough"] = Field("passthrough", description="The steps as they are.")
    encoding_size: PositiveInt | None = Field(None, description="Width of each step; null for the data's own.")
    reduce_output: ReduceOutput = None


class EmbeddingEncoder(SequenceEncoder):
    """An encoder that begins with a learnt vector for each token."""

    dropout: Dropout = 0.0
    representation: Representation = "dense"
    vocab: Vocab = None
    weights_initializer: WeightsInitializer = "xavier_uniform"
    reduce_output: ReduceOutput = "sum"
    embedding_size: EmbeddingSize = 256
    embeddings_on_cpu: EmbeddingsOnCpu = False
    embeddings_trainable: EmbeddingsTrainable = True
    pretrained_embeddings: PretrainedEmbeddings = None


class SequenceEmbedEncoder(EmbeddingEncoder):
    """The tokens' vectors alone."""

    type: Literal["embed"] = Field("embed", description="A learnt vector for each token.")
    weights_initializer: WeightsInitializer = "uniform"


class LayeredEncoder(EmbeddingEncoder):
    """An encoder with layers of its own after the tokens' vectors."""

    use_bias: UseBias = True
    bias_initializer: BiasInitializer = "zeros"
    should_embed: bool = Field(True, description="Whether the input is tokens that need a vector each.")
    output_size: OutputSize = 256


class NormedEncoder(LayeredEncoder):
    """An encoder that ends with fully connected layers of their own activation and dropout."""

    reduce_output: ReduceOutput = "last"
    norm: Norm = None
    norm_params: OptionalNormParams = None
    num_fc_layers: NumFcLayers = 0
    fc_activation: Activation = "relu"
    fc_dropout: Dropout = 0.0
    fc_layers: FcLayers = None

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from stack_mistakes(self, "num_fc_layers")


class StackedTransformerEncoder(NormedEncoder):
    """A stack of transformer blocks."""

    type: Literal["transformer"] = Field("transformer", description="A stack of transformer blocks.")
    dropout: Dropout = 0.1
    num_layers: NumLayers = 1
    hidden_size: PositiveInt = Field(256, description="Width of the blocks.")
    num_heads: PositiveInt = Field(8, description="Number of attention heads.")
    transformer_output_size: PositiveInt = Field(256, description="Width of the fully connected layer of each block.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from super().mistakes()
        if self.hidden_size % self.num_heads:
            message = f"hidden_size {self.hidden_size} is no multiple of num_heads {self.num_heads}"
            yield relation(message, "hidden_size", found=self.hidden_size)
