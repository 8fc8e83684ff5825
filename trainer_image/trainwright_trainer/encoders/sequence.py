"""The common parts of the encoders of texts and sequences: embeddings, a reduction, and fully connected layers.

Without a reduction the result is the sequence, and no fully connected layers follow, as in Ludwig.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast

import torch
import torch.nn.functional as F
from torch import nn

from trainwright_api.config.encoders.sequence import EmbeddingEncoder
from trainwright_api.problems import Mistakes
from trainwright_trainer.encoders.base import Encoder, EncoderInput, stored_vectors
from trainwright_trainer.layers.embedding import Embedding
from trainwright_trainer.layers.fully_connected import FullyConnected, LayerSettings
from trainwright_trainer.layers.reduce import Reduction
from trainwright_trainer.layers.steps import Steps, at_the_end
from trainwright_trainer.layers.stored_vectors import StoredVectors
from trainwright_trainer.loader.batch import Padded, Ragged, padded


class TokenEmbedding(nn.Module):
    """A ragged column of token indices → its embeddings. With `representation: sparse` they are one-hot vectors."""

    like: torch.Tensor

    def __init__(self, config: EmbeddingEncoder, feature: EncoderInput) -> None:
        super().__init__()
        self._tokens = len(feature.statistics["vocabulary"])
        stored = stored_vectors(config, feature)
        self.table = None if config.representation == "sparse" else self._new_table(config, feature, stored)
        self.dropout = nn.Dropout(config.dropout) if config.dropout else None
        self.output_size = self._tokens if self.table is None else self.table.width
        self.register_buffer("like", torch.empty(0, device="cpu"), persistent=False)

    def _new_table(self, config: EmbeddingEncoder, feature: EncoderInput, stored: StoredVectors | None) -> Embedding:
        path, trainable = f"{feature.path}.weights_initializer", config.embeddings_trainable
        initializer = config.weights_initializer
        return Embedding(self._tokens, config.embedding_size, initializer, path, trainable=trainable, stored=stored)

    def forward(self, columns: Ragged | Padded, least: int = 1) -> Steps:
        """At least `least` steps."""
        index, lengths = padded(columns, least)
        found = F.one_hot(index, self._tokens).to(self.like.dtype) if self.table is None else self.table(index)
        return Steps(found, lengths).with_values(found if self.dropout is None else self.dropout(found))


class TokenNumbers(nn.Module):
    """A ragged column of token indices → the indices themselves, as steps of one number."""

    like: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.output_size = 1
        self.register_buffer("like", torch.empty(0, device="cpu"), persistent=False)

    def forward(self, columns: Ragged, least: int = 1) -> Steps:
        index, lengths = padded(columns, least)
        return Steps(index.to(self.like.dtype).unsqueeze(2), lengths)


class GivenSteps(nn.Module):
    """Steps of `output_size` numbers that are embedded already, padded to `least` steps."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.output_size = width

    def forward(self, steps: Steps, least: int = 1) -> Steps:
        return steps.of_length(max(least, steps.values.shape[1]))


Embeds = TokenEmbedding | TokenNumbers | GivenSteps


def embedding_of(config: EmbeddingEncoder, feature: EncoderInput) -> Embeds:
    """The first part of an encoder."""
    return TokenEmbedding(config, feature) if feature.embedded is None else GivenSteps(feature.embedded)


class StepsLayer(Protocol):
    """A module from steps to steps, with `output_size` numbers each."""

    output_size: int

    def __call__(self, steps: Steps) -> Steps: ...

    def length(self, length: int) -> int:
        """The steps of the output for an input of `length` steps."""
        ...


class SequenceEncoder(Encoder):
    """A ragged column → [rows, output_size]: embeddings, `layers` from steps to steps, a reduction, and a stack.

    If `reduce_output` is null: → `Steps`.
    """

    def __init__(
        self,
        config: Any,
        feature: EncoderInput,
        embedding: Embeds,
        layers: Sequence[StepsLayer] = (),
        stack: Sequence[LayerSettings] = (),
    ) -> None:
        super().__init__()
        self.embedding, self.layers = embedding, nn.ModuleList(cast(Sequence[nn.Module], layers))
        length = feature.statistics["length"]
        self._least = length if config.reduce_output == "concat" else 1
        width = embedding.output_size
        for layer in layers:
            length, width = layer.length(length), layer.output_size
        self._at_the_end = config.reduce_output == "concat" and feature.statistics["padding"] == "left"
        if config.reduce_output is None:
            _refuse_layers(config, feature.path)
            self.reduction = self.stack = None
            self.output_size, self.output_length = width, length
            return
        self.reduction = Reduction(config.reduce_output, length, width)
        self.stack = FullyConnected(self.reduction.output_size, stack)
        self.output_size = self.stack.output_size

    def forward(self, columns: Ragged | Padded | Steps) -> torch.Tensor | Steps:
        steps: Steps = self.embedding(columns, self._least)
        for layer in self.layers:
            steps = layer(steps)
        if self.reduction is None or self.stack is None:
            return steps
        values, mask = at_the_end(steps) if self._at_the_end else (steps.values, steps.mask)
        output: torch.Tensor = self.stack(self.reduction(values, mask))
        return output


def _refuse_layers(config: Any, path: str) -> None:
    """Raise `Mistakes` if the file asks for fully connected layers, which follow the reduction."""
    if getattr(config, "num_fc_layers", None) or getattr(config, "fc_layers", None):
        found = "is null, and the fully connected layers take the reduced vector: name a reduction, or drop the layers"
        raise Mistakes.one(f"{path}.reduce_output", found)
