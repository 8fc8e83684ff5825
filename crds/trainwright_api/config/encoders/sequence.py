"""The base classes of the sequence encoders, and the encoders without convolution or recurrence."""

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
    """A sequence encoder."""

    max_sequence_length: MaxSequenceLength = None


class SequencePassthroughEncoder(SequenceEncoder):
    """Returns the steps of the sequence unchanged."""

    type: Literal["passthrough"] = Field("passthrough", description="Returns the steps unchanged.")
    encoding_size: PositiveInt | None = Field(None, description="Width of each step. null: derived from the data.")
    reduce_output: ReduceOutput = None


class EmbeddingEncoder(SequenceEncoder):
    """A sequence encoder that starts with an embedding of each token."""

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
    """Embeds each token."""

    type: Literal["embed"] = Field("embed", description="Embeds each token.")
    weights_initializer: WeightsInitializer = "uniform"


class LayeredEncoder(EmbeddingEncoder):
    """A sequence encoder with layers after the embedding."""

    use_bias: UseBias = True
    bias_initializer: BiasInitializer = "zeros"
    should_embed: bool = Field(True, description="Embed the tokens. false: the input is embedded already.")
    output_size: OutputSize = 256


class NormedEncoder(LayeredEncoder):
    """A sequence encoder that ends with fully connected layers with their own activation and dropout."""

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
    hidden_size: PositiveInt = Field(256, description="Hidden size of the transformer blocks.")
    num_heads: PositiveInt = Field(8, description="Number of attention heads.")
    transformer_output_size: PositiveInt = Field(
        256, description="Width of the feed-forward layer of each transformer block."
    )

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from super().mistakes()
        if self.hidden_size % self.num_heads:
            message = f"hidden_size {self.hidden_size} is no multiple of num_heads {self.num_heads}"
            yield relation(message, "hidden_size", found=self.hidden_size)
