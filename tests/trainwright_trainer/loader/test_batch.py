from __future__ import annotations

import numpy as np
import pytest
import torch

from trainwright_trainer.loader.batch import Batch, ColumnRange, Padded, Ragged, padded

SETS = [[1, 2], [], [3], [4, 5, 6], []]


def ragged() -> Ragged:
    flat = np.array([9, *(value for row in SETS for value in row), 9], np.int32)
    return Ragged.of(flat, np.cumsum([1, *(len(row) for row in SETS)]))


def test_a_ragged_column_begins_at_zero_wherever_its_values_stand() -> None:
    column = ragged()
    assert (column.values.dtype, column.offsets.dtype) == (torch.int64, torch.int64)
    assert (column.values.tolist(), column.offsets.tolist()) == ([1, 2, 3, 4, 5, 6], [0, 2, 2, 3, 6, 6])
    assert column.bounds.tolist() == column.offsets.tolist()


@pytest.mark.parametrize("rows", [slice(0, 5), slice(1, 4), slice(2, 3), slice(3, 3), slice(4, 9), slice(5, 9)])
def test_a_part_has_its_own_offsets(rows: slice) -> None:
    part = ragged().part(rows)
    expected = SETS[rows]
    assert len(part) == len(expected)
    assert part.values.tolist() == [value for row in expected for value in row]
    assert part.offsets.tolist() == part.bounds.tolist() == np.cumsum([0, *map(len, expected)]).tolist()


def test_a_batch_finds_each_kind_of_column() -> None:
    column = ragged()
    batch = Batch(torch.rand(5, 3), torch.arange(10).reshape(5, 2), np.arange(5), (column,))
    assert batch.of(ColumnRange("ragged", 0, 1)) is column
    assert torch.equal(batch.of(ColumnRange("floats", 1, 3)), batch.floats[:, 1:])
    part = batch.part(slice(2, 4))
    assert part.rows.tolist() == [2, 3]
    assert part.ints.tolist() == [[4, 5], [6, 7]]
    assert part.ragged[0].values.tolist() == [3, 4, 5, 6]


def test_rows_of_a_ragged_column_are_taken_in_any_order() -> None:
    taken = ragged().take(np.array([3, 1, 0, 3]))
    assert taken.values.tolist() == [4, 5, 6, 1, 2, 4, 5, 6]
    assert taken.offsets.tolist() == taken.bounds.tolist() == [0, 3, 3, 5, 8]


@pytest.mark.parametrize("kind", ["floats", "ints", "ragged"])
def test_one_feature_is_permuted_and_nothing_else(kind: str) -> None:
    batch = Batch(torch.rand(5, 3), torch.arange(10).reshape(5, 2), np.arange(5), (ragged(), ragged()))
    columns = {
        "floats": ColumnRange("floats", 1, 3),
        "ints": ColumnRange("ints", 0, 1),
        "ragged": ColumnRange("ragged", 1, 2),
    }
    order = np.array([2, 0, 1, 4, 3])
    found = batch.permuted(columns[kind], order)
    for name, place in columns.items():
        own, before = found.of(place), batch.of(place)
        if isinstance(before, Ragged):
            expected = before.take(order) if name == kind else before
            assert isinstance(own, Ragged)
            assert (own.values.tolist(), own.bounds.tolist()) == (expected.values.tolist(), expected.bounds.tolist())
        else:
            assert isinstance(own, torch.Tensor)
            assert torch.equal(own, before[torch.from_numpy(order)] if name == kind else before)
    assert torch.equal(found.floats[:, :1], batch.floats[:, :1])
    assert torch.equal(found.ints[:, 1:], batch.ints[:, 1:])
    assert found.rows.tolist() == batch.rows.tolist()


def test_a_padded_column_has_at_least_the_steps_that_are_asked_for() -> None:
    columns = Padded(torch.tensor([[1, 2], [3, 0]]), torch.tensor([2, 1]))
    index, lengths = padded(columns, 3)
    assert (index.tolist(), lengths.tolist()) == ([[1, 2, 0], [3, 0, 0]], [2, 1])
    assert padded(columns)[0].tolist() == [[1, 2], [3, 0]]
