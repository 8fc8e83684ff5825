"""The encoders of bags and sets of tokens."""

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
    BatchOrLayerNorm,
    Dropout,
    EmbeddingSize,
    EmbeddingsOnCpu,
    EmbeddingsTrainable,
    NumFcLayers,
    OutputSize,
    PretrainedEmbeddings,
    Representation,
    UseBias,
    Vocab,
)


class TokensEncoder(Encoder):
    """Sums the embeddings of the tokens, then applies fully connected layers."""

    dropout: Dropout = 0.0
    activation: Activation = "relu"
    vocab: Vocab = None
    representation: Representation = "dense"
    embedding_size: EmbeddingSize = 50
    embeddings_on_cpu: EmbeddingsOnCpu = False
    embeddings_trainable: EmbeddingsTrainable = True
    pretrained_embeddings: PretrainedEmbeddings = None
    use_bias: UseBias = True
    bias_initializer: BiasInitializer = "zeros"
    weights_initializer: WeightsInitializer = "xavier_uniform"
    output_size: OutputSize = 10
    norm: BatchOrLayerNorm = None
    norm_params: OptionalNormParams = None
    num_fc_layers: NumFcLayers = 0
    fc_layers: FcLayers = None

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from stack_mistakes(self, "num_fc_layers")


class SetEmbedEncoder(TokensEncoder):
    """Sums the embeddings of the tokens."""

    type: Literal["embed"] = Field("embed", description="Sums the embeddings of the tokens.")


class BagEmbedEncoder(TokensEncoder):
    """Sums the embeddings of the tokens, weighted by their counts."""

    type: Literal["embed"] = Field("embed", description="Sums the embeddings, weighted by the tokens' counts.")
    force_embedding_size: bool = Field(
        False, description="Use embedding_size as the width even if the vocabulary is smaller."
    )
