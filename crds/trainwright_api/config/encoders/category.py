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
    """Hands the number of the class on, as one value."""

    type: Literal["passthrough"] = Field("passthrough", description="The number of the class, as it is.")


class CategoryDenseEncoder(Encoder):
    """A learnt vector for each class."""

    type: Literal["dense"] = Field("dense", description="A learnt vector for each class.")
    dropout: Dropout = 0.0
    vocab: Vocab = None
    embedding_initializer: EmbeddingInitializer = None
    embedding_size: EmbeddingSize = 50
    embeddings_on_cpu: EmbeddingsOnCpu = False
    embeddings_trainable: EmbeddingsTrainable = True
    pretrained_embeddings: PretrainedEmbeddings = None


class CategorySparseEncoder(Encoder):
    """A vector as wide as the vocabulary for each class: at first the identity."""

    type: Literal["sparse"] = Field("sparse", description="A vector as wide as the vocabulary for each class.")
    dropout: Dropout = 0.0
    vocab: Vocab = None
    embedding_initializer: EmbeddingInitializer = None
    embeddings_on_cpu: EmbeddingsOnCpu = False
    embeddings_trainable: EmbeddingsTrainable = False
    pretrained_embeddings: PretrainedEmbeddings = None


class CategoryOneHotEncoder(Encoder):
    """One column a class, one in the column of the value's class and zero elsewhere."""

    type: Literal["onehot"] = Field("onehot", description="One column a class.")
    vocab: Vocab = None
