"""Encoded rows in memory: one tensor per dtype for the dense columns, filled directly from Arrow, and Arrow lists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch

from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.loader.batch import Batch, Layout, Ragged

Rows = npt.NDArray[np.int64]
# Rows that are copied at a time, so that they stay in a core's cache.
_FILL_ROWS = 65_536


@dataclass(frozen=True)
class EncodedRows:
    """Rows in ascending order of their numbers: `floats` [n, F], `ints` [n, C] int64, `rows` source row numbers.

    `ragged`: for each ragged column, `large_list<int32>` of n rows.
    """

    floats: torch.Tensor
    ints: torch.Tensor
    rows: Rows
    ragged: tuple[pa.LargeListArray, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, start: int, stop: int) -> Batch:
        """The rows [start, stop), counted from the first one. The dense columns are views."""
        rows = slice(start, stop)
        ragged = tuple(_ragged(column[rows]) for column in self.ragged)
        return Batch(self.floats[rows], self.ints[rows], self.rows[rows], ragged)

    def take(self, positions: Rows) -> Batch:
        """A copy of the rows at `positions`, counted from the first one, in that order."""
        index = torch.from_numpy(positions)
        floats, ints = (tensor.index_select(0, index) for tensor in (self.floats, self.ints))
        ragged = tuple(_ragged(column.take(pa.array(positions))) for column in self.ragged)
        return Batch(floats, ints, self.rows[positions], ragged)


def encoded_rows(prepared: Prepared, layout: Layout, dtype: torch.dtype, rows: Rows) -> EncodedRows:
    """The rows `rows` of `prepared`, ascending and maybe repeated, without nulls. `dtype`: the one of `floats`."""
    floats = torch.empty((len(rows), layout.float_width), dtype=dtype)
    ints = torch.empty((len(rows), layout.int_width), dtype=torch.int64)
    dense = {"floats": floats.numpy(), "ints": ints.numpy()}
    lists: dict[int, list[pa.Array]] = {place.start: [] for place in layout.columns.values() if place.kind == "ragged"}
    # Block by block, so that the rows being written stay in the CPU cache while one column after another is copied.
    for start in range(0, prepared.rows, _FILL_ROWS):
        low, high = np.searchsorted(rows, (start, start + _FILL_ROWS))
        for name, place in layout.columns.items():
            block = prepared.columns[name].slice(start, _FILL_ROWS)
            if place.kind == "ragged":
                lists[place.start].append(block.combine_chunks().take(pa.array(rows[low:high] - start)))
            else:
                _fill_block(block, rows[low:high] - start, dense[place.kind][low:high, place.start : place.stop])
    return EncodedRows(floats, ints, rows, tuple(pa.concat_arrays(lists[index]) for index in sorted(lists)))


def _fill_block(block: pa.ChunkedArray, rows: Rows, target: npt.NDArray[np.generic]) -> None:
    """Write the rows `rows` of `block` (ascending, counted from its start) into `target`, [rows, width]."""
    start = 0
    for chunk in block.chunks:
        low, high = np.searchsorted(rows, (start, start + len(chunk)))
        target[low:high] = _values(chunk)[rows[low:high] - start]
        start += len(chunk)


def _values(array: pa.Array) -> npt.NDArray[np.generic]:
    """[rows, width]: a view of the Arrow buffer. Null rows have undefined values, which are never read."""
    width = 1
    if pa.types.is_fixed_size_list(array.type):
        width = array.type.list_size
        # `values` is the child array of all rows; it ignores this array's offset.
        array = array.values.slice(array.offset * width, len(array) * width)
    flat = np.frombuffer(array.buffers()[1], dtype=array.type.to_pandas_dtype(), offset=_bytes_before(array))
    return flat[: len(array)].reshape(-1, width)


def _bytes_before(array: pa.Array) -> int:
    return int(array.offset * array.type.byte_width)


def _ragged(lists: pa.LargeListArray) -> Ragged:
    return Ragged.of(lists.values.to_numpy(), lists.offsets.to_numpy())
