"""A table of learnt rows, one for each index from 0."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from trainwright_api.config.initializers import AnyInitializer, UniformInitializer
from trainwright_trainer.layers.initializers import Initialized, initializer_of
from trainwright_trainer.layers.stored_vectors import StoredVectors


class Embedding(Initialized):
    """int64 [rows] → [rows, width].

    `width` is at most `largest` and at most `size`: more columns than rows add no information. If `is_exact` or with
    `stored` vectors, it is `largest`. Without an initializer the values are uniform between -1 and 1, as in Ludwig.
    """

    def __init__(
        self,
        size: int,
        largest: int,
        initializer: AnyInitializer | None,
        path: str,
        *,
        trainable: bool = True,
        is_exact: bool = False,
        stored: StoredVectors | None = None,
    ) -> None:
        super().__init__()
        self.size, self.width = size, largest if is_exact or stored is not None else min(size, largest)
        self.weight = nn.Parameter(torch.empty(size, self.width), requires_grad=trainable)
        self._stored = stored
        random = initializer_of(initializer or UniformInitializer(a=-1.0, b=1.0), self.weight, path)
        self.initialize(weight=random if stored is None else stored)

    def check_stored(self) -> None:
        """Raise `Mistakes` if the stored vectors cannot be read, or do not fit."""
        if self._stored is not None:
            self._stored.check()

    def forward(self, index: torch.Tensor | None) -> torch.Tensor:
        """None: a copy of the table, [size, width]."""
        return self.weight.clone() if index is None else F.embedding(index, self.weight)

    def sums(self, index: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        """[rows, width]: row i is the sum of the embeddings of `index[offsets[i]:offsets[i + 1]]`, in their order.

        `offsets`: int64 [rows + 1]. A sum depends on no other row.
        """
        return F.embedding_bag(index, self.weight, offsets, mode="sum", include_last_offset=True)
