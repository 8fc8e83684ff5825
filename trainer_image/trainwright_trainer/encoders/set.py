"""The encoder of sets and bags: the sum of the embeddings of a row's tokens, then fully connected layers."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from trainwright_api.config.encoders.bag import BagEmbedEncoder, SetEmbedEncoder
from trainwright_trainer.encoders.base import Encoder, EncoderInput, stored_vectors
from trainwright_trainer.layers.embedding import Embedding
from trainwright_trainer.layers.fully_connected import FullyConnected, stack_of
from trainwright_trainer.layers.steps import mask_of
from trainwright_trainer.layers.stored_vectors import StoredVectors
from trainwright_trainer.loader.batch import Padded, Ragged


class SetEmbedded(Encoder):
    """A ragged column of token indices → [rows, output_size]. An empty set has the sum zero.

    A token that occurs several times in a row of a bag is added as often. With `representation: sparse` a token's
    embedding is the fixed one-hot vector of its index.
    """

    like: torch.Tensor

    def __init__(self, config: SetEmbedEncoder | BagEmbedEncoder, feature: EncoderInput) -> None:
        super().__init__()
        self._tokens = len(feature.statistics["vocabulary"])
        stored = stored_vectors(config, feature)
        self.table = None if config.representation == "sparse" else self._embedding(config, feature, stored)
        self.dropout = nn.Dropout(config.dropout) if config.dropout else None
        self.register_buffer("like", torch.empty(0, device="cpu"), persistent=False)
        width = self._tokens if self.table is None else self.table.width
        self.stack = FullyConnected(width, stack_of(config, feature.path))
        self.output_size = self.stack.output_size

    def _embedding(
        self, config: SetEmbedEncoder | BagEmbedEncoder, feature: EncoderInput, stored: StoredVectors | None
    ) -> Embedding:
        path, trainable = f"{feature.path}.weights_initializer", config.embeddings_trainable
        return Embedding(
            self._tokens,
            config.embedding_size,
            config.weights_initializer,
            path,
            trainable=trainable,
            is_exact=getattr(config, "force_embedding_size", False),
            stored=stored,
        )

    def forward(self, columns: Ragged | Padded) -> torch.Tensor:
        if isinstance(columns, Padded):
            summed = self._padded_sums(columns)
        elif self.table is None:
            summed = self._one_hot(columns)
        else:
            summed = self.table.sums(columns.values, columns.offsets)
        output: torch.Tensor = self.stack(self.dropout(summed) if self.dropout else summed)
        return output

    def _padded_sums(self, columns: Padded) -> torch.Tensor:
        if self.table is None:
            found = F.one_hot(columns.index, self._tokens).to(self.like.dtype)
        else:
            found = self.table(columns.index)
        return found.masked_fill(~mask_of(columns.lengths, columns.index.shape[1]).unsqueeze(2), 0.0).sum(1)

    def _one_hot(self, columns: Ragged) -> torch.Tensor:
        """The sums of one-hot vectors, [rows, tokens], without a table of tokens² numbers."""
        owners = torch.repeat_interleave(columns.offsets.diff(), output_size=len(columns.values))
        found = torch.zeros((len(columns), self._tokens), dtype=self.like.dtype, device=self.like.device)
        return found.index_put_((owners, columns.values), found.new_ones(()), accumulate=True)
