from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import torch

from trainwright_trainer.distributed.ranks import OneRank
from trainwright_trainer.loader.batch import ColumnRange, Ragged
from trainwright_trainer.loader.encoded_rows import EncodedRows
from trainwright_trainer.loop.embedding_pass import PASS_ROWS, PASS_STEPS, EmbeddingPass, passes


@pytest.mark.parametrize("lengths", [[], [5], [0, 0], [3, 9_000, 1, 20_000, 9_000], list(range(1, 600))])
def test_each_row_is_in_one_pass_of_limited_size(lengths: list[int]) -> None:
    found = list(passes(np.array(lengths, np.int64)))
    assert sorted(place for places in found for place in places) == list(range(len(lengths)))
    longest = [max(lengths[place] for place in places) for places in found]
    assert longest == sorted(longest, reverse=True)
    for places, most in zip(found, longest, strict=True):
        assert len(places) <= PASS_ROWS
        assert len(places) == 1 or len(places) * most <= PASS_STEPS


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
