"""Rows that are taken from columns in chunks, compared with a gather of the whole columns."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

from trainwright_trainer.data.columnfile import GROUP_ROWS, Column
from trainwright_trainer.data.prepared import Columns, Prepared
from trainwright_trainer.loader import encoded_rows as encoded_rows_module
from trainwright_trainer.loader.batch import ColumnRange, Layout
from trainwright_trainer.loader.encoded_rows import encoded_rows

ROWS = GROUP_ROWS + 70_000
NUMBERS = np.arange(ROWS)
LAYOUT = Layout({"x": ColumnRange("floats", 0, 1), "pair": ColumnRange("ints", 0, 2)}, 1, 2)
CUTS = {"one chunk": [], "some chunks": [3, 20_000, 20_001, GROUP_ROWS + 5]}
CHOICES = {
    "all": NUMBERS,
    "neighbours over a cut": np.arange(19_990, 20_010),
    "neighbours over a group": np.arange(GROUP_ROWS - 20_000, GROUP_ROWS + 20_000),
    "scattered": NUMBERS[::7],
    "repeated": np.repeat(NUMBERS[:50_000], 2),
    "none": NUMBERS[:0],
}


def prepared_in(cuts: list[int]) -> Prepared:
    pairs = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(2 * ROWS, dtype=np.int32)), 2)
    bounds = [0, *cuts, ROWS]
    columns = {
        name: Column(pa.chunked_array([array.slice(a, b - a) for a, b in pairwise(bounds)]))
        for name, array in {"x": pa.array(NUMBERS.astype(np.float32)), "pair": pairs}.items()
    }
    return Prepared("x", ROWS, np.zeros(ROWS, np.uint8), Columns(columns), {}, "", "", False)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("cuts", CUTS)
def test_the_chosen_rows_are_taken(cuts: str, choice: str) -> None:
    rows = CHOICES[choice]
    found = encoded_rows(prepared_in(CUTS[cuts]), LAYOUT, torch.float32, rows)
    assert np.array_equal(found.floats[:, 0].numpy(), rows.astype(np.float32))
    assert np.array_equal(found.ints.numpy(), np.stack([2 * rows, 2 * rows + 1], axis=1))


@pytest.mark.parametrize("cores", [1, 3])
@pytest.mark.parametrize("choice", CHOICES)
def test_the_rows_have_the_given_order(choice: str, cores: int) -> None:
    rows = CHOICES[choice]
    order = np.random.default_rng(0).permutation(len(rows))
    found = encoded_rows(prepared_in(CUTS["some chunks"]), LAYOUT, torch.float32, rows, order, cores=cores)
    assert np.array_equal(found.rows, rows[order])
    assert np.array_equal(found.floats[:, 0].numpy(), rows[order].astype(np.float32))
    assert np.array_equal(found.ints[:, 1].numpy(), 2 * rows[order] + 1)


def test_fewer_rows_of_many_columns_are_copied_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row has 20 bytes here."""
    copied: list[int] = []
    fill = encoded_rows_module._Filling._fill

    def counted(self: Any, columns: Any, rows: Any, where: Any) -> None:
        copied.append(len(rows))
        fill(self, columns, rows, where)

    monkeypatch.setattr(encoded_rows_module._Filling, "_fill", counted)
    for most, expected in ((4 << 20, 16_384), (20 * 10_000, 8_192), (20, 4_096)):
        copied.clear()
        monkeypatch.setattr(encoded_rows_module, "_FILL_BYTES", most)
        encoded_rows(prepared_in(CUTS["some chunks"]), LAYOUT, torch.float32, NUMBERS)
        assert max(copied) == expected
