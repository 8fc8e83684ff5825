"""The common parts of the encoders of texts and sequences: embeddings, a reduction, and fully connected layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from trainwright_api.config.encoders.sequence import EmbeddingEncoder
from trainwright_trainer.encoders.base import Encoder, EncoderInput
from trainwright_trainer.layers.embedding import Embedding
from trainwright_trainer.layers.fully_connected import FullyConnected, LayerSettings
from trainwright_trainer.layers.reduce import Reduction
from trainwright_trainer.layers.steps import Steps, at_the_end, mask_of
from trainwright_trainer.loader.batch import Padded, Ragged


def padded(columns: Ragged | Padded, least: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    """int64 [rows, length]: the tokens of each row, then zeros; and int64 [rows], the lengths.

    `length` is that of the longest row, and `least` at least. A column that is padded already stays as it is.
    """
    if isinstance(columns, Padded):
        return columns.index, columns.lengths
    length = int(np.diff(columns.bounds).max(initial=least))
    lengths = columns.offsets.diff()
    index = columns.values.new_zeros(len(columns), length)
    return index.masked_scatter(mask_of(lengths, length), columns.values), lengths


class TokenEmbedding(nn.Module):
    """A ragged column of token indices → its embeddings. With `representation: sparse` they are one-hot vectors."""

    like: torch.Tensor

    def __init__(self, config: EmbeddingEncoder, feature: EncoderInput) -> None:
        super().__init__()
        self._tokens = len(feature.statistics["vocabulary"])
        self.table = None if config.representation == "sparse" else self._new_table(config, feature)
        self.dropout = nn.Dropout(config.dropout) if config.dropout else None
        self.output_size = self._tokens if self.table is None else self.table.width
        self.register_buffer("like", torch.empty(0, device="cpu"), persistent=False)

    def _new_table(self, config: EmbeddingEncoder, feature: EncoderInput) -> Embedding:
        path, trainable = f"{feature.path}.weights_initializer", config.embeddings_trainable
        return Embedding(self._tokens, config.embedding_size, config.weights_initializer, path, trainable=trainable)

    def forward(self, columns: Ragged | Padded, least: int = 1) -> Steps:
        """At least `least` steps."""
        index, lengths = padded(columns, least)
        found = F.one_hot(index, self._tokens).to(self.like.dtype) if self.table is None else self.table(index)
        return Steps(found, lengths).with_values(found if self.dropout is None else self.dropout(found))


class StepsLayer(Protocol):
    """A module from steps to steps, with `output_size` numbers each."""

    output_size: int

    def __call__(self, steps: Steps) -> Steps: ...

    def length(self, length: int) -> int:
        """The steps of the output for an input of `length` steps."""
        ...


class SequenceEncoder(Encoder):
    """A ragged column → [rows, output_size]: embeddings, `layers` from steps to steps, a reduction, and a stack."""

    def __init__(
        self,
        config: Any,
        feature: EncoderInput,
        embedding: TokenEmbedding,
        layers: Sequence[StepsLayer] = (),
        stack: Sequence[LayerSettings] = (),
    ) -> None:
        super().__init__()
        self.embedding, self.layers = embedding, nn.ModuleList(cast(Sequence[nn.Module], layers))
        length = self._least = feature.statistics["length"] if config.reduce_output == "concat" else 1
        width = embedding.output_size
        for layer in layers:
            length, width = layer.length(length), layer.output_size
        self._at_the_end = config.reduce_output == "concat" and feature.statistics["padding"] == "left"
        self.reduction = Reduction(config.reduce_output, length, width)
        self.stack = FullyConnected(self.reduction.output_size, stack)
        self.output_size = self.stack.output_size

    def forward(self, columns: Ragged | Padded) -> torch.Tensor:
        steps: Steps = self.embedding(columns, self._least)
        for layer in self.layers:
            steps = layer(steps)
        values, mask = at_the_end(steps) if self._at_the_end else (steps.values, steps.mask)
        output: torch.Tensor = self.stack(self.reduction(values, mask))
        return output
