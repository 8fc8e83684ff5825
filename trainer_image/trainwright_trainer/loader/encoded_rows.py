"""Encoded rows in memory: one tensor per dtype for the dense columns, filled directly from Arrow, and Arrow lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch

from trainwright_trainer.data.columnfile import GROUP_ROWS
from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.features.tokens import lengths_of
from trainwright_trainer.frames.pandas import shared_by_threads
from trainwright_trainer.loader.batch import Batch, EncodedImages, Layout, Ragged, copied
from trainwright_trainer.loader.cut import Bounds
from trainwright_trainer.loader.epoch_order import inverse

Rows = npt.NDArray[np.int64]
Empty = Callable[[tuple[int, int], torch.dtype], torch.Tensor]
# Rows that are copied at a time, so that they stay in a core's cache: fewer where they have many columns. Each thread
# has memory for them. GROUP_ROWS is a multiple of these numbers.
_FILL_ROWS, _LEAST_FILL_ROWS, _FILL_BYTES = 16_384, 4_096, 4 << 20
# Rows whose images are read at a time. Row groups on their bounds are read twice.
_IMAGE_ROWS = 65_536
_NONE = {"ragged": pa.array([], pa.large_list(pa.int32())), "images": pa.array([], pa.large_binary())}
"""An empty column of each kind whose values differ in size."""


@dataclass(frozen=True)
class EncodedRows:
    """Some rows: `floats` [n, F], `ints` [n, C] int64, both on the CPU or on a GPU, `rows` source row numbers.

    `ragged`: for each ragged column, `large_list<int32>` of n rows. `images`: encoded, for each image column.
    """

    floats: torch.Tensor
    ints: torch.Tensor
    rows: Rows
    ragged: tuple[pa.LargeListArray, ...] = ()
    images: tuple[EncodedImages, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def lengths(self, column: int) -> Rows:
        """int64 [n]: the number of values of each row of a ragged column."""
        return lengths_of(self.ragged[column])

    def total_lengths(self) -> Rows:
        """int64 [n]: the number of values of each row in all ragged columns."""
        return sum(map(lengths_of, self.ragged), np.zeros(len(self), np.int64))

    def part(self, start: int, stop: int) -> Batch:
        """The rows [start, stop), counted from the first one. The dense columns are views."""
        rows = slice(start, stop)
        ragged = tuple(_ragged(column[rows]) for column in self.ragged)
        images = tuple(column[rows] for column in self.images)
        return Batch(self.floats[rows], self.ints[rows], self.rows[rows], ragged, images)

    def take(self, positions: Rows, rows: Rows | None = None, *, pinned: bool = False) -> Batch:
        """A copy of the rows at `positions`, counted from the first one, in that order.

        `rows`: their source row numbers, if they are known. `pinned`: the dense columns of rows on the CPU are copied
        into pinned memory, from which a GPU can copy them.
        """
        index = copied(torch.from_numpy(positions), self.floats.device)
        floats, ints = (_gathered(tensor, index, pinned and tensor.is_cpu) for tensor in (self.floats, self.ints))
        ragged = tuple(_ragged(column.take(pa.array(positions))) for column in self.ragged)
        images = tuple(column.take(positions) for column in self.images)
        return Batch(floats, ints, self.rows[positions] if rows is None else rows, ragged, images)


def _gathered(tensor: torch.Tensor, index: torch.Tensor, pinned: bool) -> torch.Tensor:
    room = torch.empty((len(index), tensor.shape[1]), dtype=tensor.dtype, pin_memory=True) if pinned else None
    return torch.index_select(tensor, 0, index, out=room)


def in_memory(shape: tuple[int, int], dtype: torch.dtype) -> torch.Tensor:
    """A tensor without values. numpy asks for huge pages and torch does not: without them, to write scattered rows of
    20 MB takes several times as long."""
    return torch.from_numpy(np.empty(shape, torch.empty(0, dtype=dtype).numpy().dtype))


def encoded_rows(
    prepared: Prepared,
    layout: Layout,
    dtype: torch.dtype,
    rows: Rows,
    order: Rows | None = None,
    empty: Empty = in_memory,
    cores: int | None = None,
) -> EncodedRows:
    """The rows `rows` of `prepared`, ascending and maybe repeated, without nulls. `dtype`: the one of `floats`.

    `order`: the position in `rows` of each row of the result, a permutation; None: they stay ascending. `empty`
    allocates `floats`, then `ints`. `cores`: those that read and copy; None: all of this process.
    """
    threads = cores or pa.cpu_count()
    floats = empty((len(rows), layout.float_width), dtype)
    ints = empty((len(rows), layout.int_width), torch.int64)
    filling = _Filling(layout, {"floats": floats, "ints": ints}, order)
    large = [name for name, place in layout.columns.items() if place.kind == "images"]
    small = [name for name in layout.columns if name not in large]
    for first in range(0, prepared.rows, GROUP_ROWS):
        blocks = _blocks(rows, first, filling.block_rows)
        if not blocks:
            continue
        read = prepared.parts_of(small, first, first + GROUP_ROWS, threads)
        filling.add({name: _Column(column) for name, column in read.items()}, first, rows, blocks, threads)
        for low, high in _blocks(rows, first, _IMAGE_ROWS) if large else ():
            for name in large:  # no more of them is read than is needed, and no more is in memory
                parts = prepared.parts(name, int(rows[low]), int(rows[high - 1]) + 1)
                filling.add_varying(name, parts, rows[low:high] - rows[low])
    return EncodedRows(
        floats,
        ints,
        rows if order is None else rows[order],
        filling.varying("ragged"),
        tuple(map(EncodedImages, filling.varying("images"), layout.images)),
    )


class _Column:
    """Some rows of a column: Arrow's chunks, and views of the values of a dense one."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        self.chunks = column.chunks
        self._edges = np.cumsum([0, *map(len, self.chunks)])

    @cached_property
    def _parts(self) -> list[npt.NDArray[np.generic]]:
        return [_values(chunk) for chunk in self.chunks]

    def take(self, rows: slice | Rows) -> npt.NDArray[np.generic]:
        """[rows, width]: the rows `rows`, ascending, of a dense column."""
        if len(self._parts) == 1:
            return self._parts[0][rows]
        if isinstance(rows, slice):
            rows = np.arange(rows.start, rows.stop)
        bounds = pairwise(np.searchsorted(rows, self._edges))
        found = zip(self._parts, self._edges[:-1], bounds, strict=True)
        return np.concatenate([part[rows[low:high] - first] for part, first, (low, high) in found])


class _Filling:
    """Fills the dense columns of `targets`, and collects the ragged ones and those of images."""

    def __init__(self, layout: Layout, targets: Mapping[str, torch.Tensor], order: Rows | None) -> None:
        self._layout, self._order = layout, order
        self._places = None if order is None else inverse(order)
        self._targets = {kind: target for kind, target in targets.items() if target.shape[1]}
        self._varying = {name: [_NONE[place.kind]] for name, place in layout.columns.items() if place.kind in _NONE}

    @property
    def block_rows(self) -> int:
        """The rows that are copied at a time: a power of two."""
        row_bytes = sum(target.shape[1] * target.element_size() for target in self._targets.values())
        rows = _FILL_ROWS
        while rows > _LEAST_FILL_ROWS and rows * row_bytes > _FILL_BYTES:
            rows //= 2
        return rows

    def add(
        self, columns: Mapping[str, _Column], first: int, rows: Rows, blocks: Sequence[Bounds], threads: int
    ) -> None:
        """Take the rows of `blocks`, ascending bounds in `rows`, from columns that begin with the row `first`."""
        dense = {name: column for name, column in columns.items() if self._layout.columns[name].kind in self._targets}

        def fill(block: Bounds) -> None:
            own = slice(*block)
            self._fill(dense, rows[own] - first, own if self._places is None else self._places[own])

        shared_by_threads(fill, blocks if dense else (), min(threads, len(blocks)))
        for name, column in columns.items():
            if name not in dense:
                self.add_varying(name, column.chunks, rows[blocks[0][0] : blocks[-1][1]] - first)

    def _fill(self, columns: Mapping[str, _Column], rows: Rows, where: slice | Rows) -> None:
        """Copy the rows `rows` (ascending, counted from the start of the columns) to their places `where`.

        A block stays in the CPU cache while column after column is copied.
        """
        dense = {kind: self._room(target, where, len(rows)) for kind, target in self._targets.items()}
        arrays = {kind: room.numpy() for kind, room in dense.items()}
        # Neighbouring rows are a slice, which is not copied before it is written to its place.
        taken = slice(rows[0], rows[-1] + 1) if np.all(np.diff(rows) == 1) else rows
        for name, column in columns.items():
            place = self._layout.columns[name]
            arrays[place.kind][:, place.start : place.stop] = column.take(taken)
        if not isinstance(where, slice):
            for kind, target in self._targets.items():
                _whole_rows(target)[where] = _whole_rows(dense[kind])

    def add_varying(self, name: str, chunks: Iterable[pa.Array], rows: Rows) -> None:
        """Take the rows `rows` (ascending) of a column whose values differ in size."""
        first = 0
        for chunk in chunks:
            low, high = np.searchsorted(rows, (first, first + len(chunk)))
            if low < high:
                self._varying[name].append(chunk.take(pa.array(rows[low:high] - first)))
            first += len(chunk)

    @staticmethod
    def _room(target: torch.Tensor, where: slice | Rows, rows: int) -> torch.Tensor:
        """[rows, width]: the places themselves, or memory from which whole rows are copied to scattered places."""
        return target[where] if isinstance(where, slice) else target.new_empty((rows, target.shape[1]))

    def varying(self, kind: str) -> tuple[pa.Array, ...]:
        """The columns of a kind, in the order of the result."""
        names = [name for name in self._varying if self._layout.columns[name].kind == kind]
        names.sort(key=lambda name: self._layout.columns[name].start)
        columns = [pa.concat_arrays(self._varying[name]) for name in names]
        return tuple(columns if self._order is None else (column.take(pa.array(self._order)) for column in columns))


def _blocks(rows: Rows, first: int, size: int) -> list[Bounds]:
    """The bounds in `rows` of those in each block of `size` rows of the group that begins with row `first`."""
    edges = np.searchsorted(rows, range(first, first + GROUP_ROWS + 1, size)).tolist()
    return [(low, high) for low, high in pairwise(edges) if low < high]


def _values(array: pa.Array) -> npt.NDArray[np.generic]:
    """[rows, width]: a view of the Arrow buffer. Null rows have undefined values, which are never read."""
    width = 1
    if pa.types.is_fixed_size_list(array.type):
        width = array.type.list_size
        # `values` is the child array of all rows; it ignores this array's offset.
        array = array.values.slice(array.offset * width, len(array) * width)
    flat = np.frombuffer(array.buffers()[1], dtype=array.type.to_pandas_dtype(), offset=_bytes_before(array))
    return flat[: len(array)].reshape(-1, width)


def _whole_rows(rows: torch.Tensor) -> npt.NDArray[np.void]:
    """[rows]: a view of the rows on the CPU. numpy copies such a row to its place in half of torch's time."""
    array = rows.numpy()
    return array.view(np.dtype((np.void, array.itemsize * array.shape[1])))[:, 0]


def _bytes_before(array: pa.Array) -> int:
    return int(array.offset * array.type.byte_width)


def _ragged(lists: pa.LargeListArray) -> Ragged:
    return Ragged.of(lists.values.to_numpy(), lists.offsets.to_numpy())
