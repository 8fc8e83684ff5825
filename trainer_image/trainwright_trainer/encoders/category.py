"""Encoders of a category's label number: a learnt embedding for each label, or a one-hot vector."""

from __future__ import annotations

from abc import abstractmethod

import torch
import torch.nn.functional as F
from torch import nn

from trainwright_api.config.encoders.category import CategoryDenseEncoder, CategoryOneHotEncoder, CategorySparseEncoder
from trainwright_trainer.encoders.base import Encoder, EncoderInput, stored_vectors
from trainwright_trainer.layers.embedding import Embedding
from trainwright_trainer.layers.linear_products import Lookup, Part, is_faster


class LabelEncoder(Encoder):
    """int64 [rows, 1] → [rows, width of the table]: for each row, the row of a table that its label has."""

    size: int
    """The number of labels."""
    dropout: nn.Dropout | None

    def forward(self, columns: torch.Tensor) -> torch.Tensor:
        rows = self.rows_of(columns.squeeze(1))
        return self.dropout(rows) if self.dropout else rows

    def lookup(self, columns: torch.Tensor) -> Part:
        """The result of `forward`, as a `Lookup` if that is faster.

        Both call the same modules: ZeRO 3 needs one order of them on all ranks, whose numbers of rows can differ.
        """
        labels = columns.squeeze(1)
        if self.dropout and self.training:
            return self.forward(columns)
        return Lookup(self.rows_of(None), labels) if is_faster(self.size, labels) else self.rows_of(labels)

    @abstractmethod
    def rows_of(self, labels: torch.Tensor | None) -> torch.Tensor:
        """The rows of the table that int64 [rows] `labels` name.

        None: all rows, as a copy, because a sharded engine has the table itself only while its module computes.
        """


class OneHot(LabelEncoder):
    """int64 [rows, 1] → [rows, labels]: one in the label's column, zero elsewhere."""

    like: torch.Tensor

    def __init__(self, config: CategoryOneHotEncoder | CategorySparseEncoder, feature: EncoderInput) -> None:
        super().__init__()
        self.size = self.output_size = len(feature.statistics["vocabulary"])
        share = getattr(config, "dropout", 0.0)
        self.dropout = nn.Dropout(share) if share else None
        self.register_buffer("like", torch.empty(0, device="cpu"), persistent=False)

    def rows_of(self, labels: torch.Tensor | None) -> torch.Tensor:
        if labels is None:
            return torch.eye(self.size, dtype=self.like.dtype, device=self.like.device)
        return F.one_hot(labels, self.size).to(self.like.dtype)


class Embedded(LabelEncoder):
    """int64 [rows, 1] → [rows, width of the table].

    The width of the table is at most `embedding_size` and at most the number of labels.
    """

    def __init__(self, config: CategoryDenseEncoder | CategorySparseEncoder, feature: EncoderInput) -> None:
        super().__init__()
        self.size = len(feature.statistics["vocabulary"])
        largest = config.embedding_size if isinstance(config, CategoryDenseEncoder) else self.size
        path = f"{feature.path}.embedding_initializer"
        initializer = config.embedding_initializer
        if initializer is None and isinstance(config, CategorySparseEncoder):
            initializer = "identity"
        stored = stored_vectors(config, feature) if isinstance(config, CategoryDenseEncoder) else None
        trainable = config.embeddings_trainable
        self.table = Embedding(self.size, largest, initializer, path, trainable=trainable, stored=stored)
        self.dropout = nn.Dropout(config.dropout) if config.dropout else None
        self.output_size = self.table.width

    def rows_of(self, labels: torch.Tensor | None) -> torch.Tensor:
        rows: torch.Tensor = self.table(labels)
        return rows


def sparse(config: CategorySparseEncoder, feature: EncoderInput) -> Encoder:
    """An encoder whose output is as wide as the number of labels. A fixed identity table is the same as one-hot."""
    if config.embedding_initializer is None and not config.embeddings_trainable:
        return OneHot(config, feature)
    return Embedded(config, feature)
