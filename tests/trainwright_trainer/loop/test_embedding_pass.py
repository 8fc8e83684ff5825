from __future__ import annotations

import numpy as np
import pyarrow as pa
import torch

from trainwright_trainer.distributed.ranks import OneRank
from trainwright_trainer.loader.batch import ColumnRange, Ragged
from trainwright_trainer.loader.encoded_rows import EncodedRows
from trainwright_trainer.loop.embedding_pass import EmbeddingPass


def test_the_vectors_are_in_the_order_of_the_rows() -> None:
    lists = [[1, 2], [], [5, 5, 5], [7], [2]]
    ragged = pa.array(lists, pa.large_list(pa.int32()))
    held = EncodedRows(torch.empty(5, 0), torch.empty(5, 0, dtype=torch.int64), np.arange(5), (ragged,))

    def encode(columns: torch.Tensor | Ragged) -> torch.Tensor:
        assert isinstance(columns, Ragged)
        sums = torch.zeros(len(columns)).scatter_add(
            0, torch.arange(len(columns)).repeat_interleave(columns.offsets.diff()), columns.values.float()
        )
        return torch.stack([sums, columns.offsets.diff().float()], 1)

    work = EmbeddingPass(encode, ColumnRange("ragged", 0, 1), 2, OneRank())
    assert work.vectors(held, 1, 5).tolist() == [[0, 0], [15, 3], [7, 1], [2, 1]]


def test_a_dense_column_is_encoded_too() -> None:
    floats = torch.arange(6.0).reshape(3, 2)
    held = EncodedRows(floats, torch.empty(3, 0, dtype=torch.int64), np.arange(3))
    work = EmbeddingPass(lambda columns: columns * 2, ColumnRange("floats", 0, 2), 2, OneRank())  # type: ignore[operator]
    assert torch.equal(work.vectors(held, 0, 3), floats * 2)
