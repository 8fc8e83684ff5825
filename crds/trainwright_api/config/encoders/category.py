"""The encoders of categories."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from trainwright_api.config.encoders.base import Encoder
from trainwright_api.config.initializers import EmbeddingInitializer
from trainwright_api.schema.fields import (
    Dropout,
    EmbeddingSize,
    EmbeddingsOnCpu,
    EmbeddingsTrainable,
    PretrainedEmbeddings,
    Vocab,
)


class CategoryPassthroughEncoder(Encoder):
    """Returns the index of the class as one value."""

    type: Literal["passthrough"] = Field("passthrough", description="Returns the index of the class.")


class CategoryDenseEncoder(Encoder):
    """A learned embedding for each class."""

    type: Literal["dense"] = Field("dense", description="A learned embedding for each class.")
    dropout: Dropout = 0.0
    vocab: Vocab = None
    embedding_initializer: EmbeddingInitializer = None
    embedding_size: EmbeddingSize = 50
    embeddings_on_cpu: EmbeddingsOnCpu = False
    embeddings_trainable: EmbeddingsTrainable = True
    pretrained_embeddings: PretrainedEmbeddings = None


class CategorySparseEncoder(Encoder):
    """An embedding as wide as the vocabulary for each class, initialized to one-hot vectors."""

    type: Literal["sparse"] = Field(
        "sparse", description="An embedding as wide as the vocabulary, initialized to one-hot vectors."
    )
    dropout: Dropout = 0.0
    vocab: Vocab = None
    embedding_initializer: EmbeddingInitializer = None
    embeddings_on_cpu: EmbeddingsOnCpu = False
    embeddings_trainable: EmbeddingsTrainable = False
    pretrained_embeddings: PretrainedEmbeddings = None


class CategoryOneHotEncoder(Encoder):
    """A one-hot vector of the class."""

    type: Literal["onehot"] = Field("onehot", description="One-hot encoding of the class.")
    vocab: Vocab = None
