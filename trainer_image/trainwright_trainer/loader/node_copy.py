"""One copy of encoded rows for the ranks of a machine: the first of them fills it, and the others map its memory.

The memory is anonymous (memfd), so it needs no room in a file system, and a kill leaves nothing behind. The others open
it through /proc of the first rank; a rank that may not do that holds a copy of its own. A write would be private to its
rank.
"""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch

from trainwright_trainer.distributed.ranks import Ranks
from trainwright_trainer.loader.batch import EncodedImages, Layout
from trainwright_trainer.loader.encoded_rows import Empty, EncodedRows, in_memory

T = TypeVar("T")
Array = npt.NDArray[Any]
Fill = Callable[[Empty], Sequence[EncodedRows]]
"""Reads the rows of all parts of a data set. It gets a function to allocate the dense tensors."""


@dataclass(frozen=True)
class Piece:
    """An array in the memory, by its first byte."""

    start: int
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class Copy:
    """The memory of one rank, by its process and its file descriptor there: the pieces of each part."""

    process: int
    descriptor: int
    parts: tuple[tuple[Piece, ...], ...]


def rows_of_node(fill: Fill, layout: Layout, ranks: Ranks) -> Sequence[EncodedRows]:
    """The rows that `fill` reads. Ranks on one machine share them, and only one of these calls `fill`.

    All ranks call this together.
    """
    ranks = ranks.beside()  # to read the rows may take longer than the other ranks wait in a step
    machines = _of_all(ranks, _machine(ranks.rank))
    first = machines.index(machines[ranks.rank])
    if machines.count(machines[first]) == 1:
        memory = own = None
        rows = fill(in_memory)
    else:
        memory = _Memory() if first == ranks.rank else None
        own = memory.filled(fill) if memory else None
        rows = ()
    copy = _of_all(ranks, own)[first]
    if copy is not None:
        rows = _mapped(copy, layout) or fill(in_memory)
    _of_all(ranks, None)  # all have opened the memory
    if memory is not None:
        os.close(memory.descriptor)
    return rows


def _of_all(ranks: Ranks, own: T) -> Sequence[T]:
    """The values of all ranks, on every rank."""
    return ranks.share(ranks.gather(own))


def _machine(rank: int) -> tuple[str, ...]:
    """The same for processes that see each other in /proc."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(), os.readlink("/proc/self/ns/pid")
    except OSError:
        return (f"rank {rank}",)


class _Memory:
    """Memory that grows piece by piece, by whole pages."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("trainwright-rows")
        self._size = 0
        self._dense: list[Piece] = []

    def filled(self, fill: Fill) -> Copy:
        parts = fill(self._empty)
        dense = iter(self._dense)
        pieces = (
            (next(dense), next(dense), *(self._put(array) for array in (rows.rows, *_lists(rows), *_contents(rows))))
            for rows in parts
        )
        return Copy(os.getpid(), self.descriptor, tuple(pieces))

    def _empty(self, shape: tuple[int, int], dtype: torch.dtype) -> torch.Tensor:
        self._dense.append(self._piece(shape, str(dtype).removeprefix("torch.")))
        return torch.from_numpy(_array(self.descriptor, self._dense[-1], mmap.ACCESS_WRITE))

    def _put(self, values: Array) -> Piece:
        piece = self._piece(values.shape, values.dtype.name)
        _array(self.descriptor, piece, mmap.ACCESS_WRITE)[...] = values
        return piece

    def _piece(self, shape: tuple[int, ...], dtype: str) -> Piece:
        piece = Piece(self._size, shape, dtype)
        self._size += -(-_bytes(piece) // mmap.PAGESIZE) * mmap.PAGESIZE
        os.ftruncate(self.descriptor, self._size)
        return piece


def _mapped(copy: Copy, layout: Layout) -> Sequence[EncodedRows]:
    """The rows in the memory of another process or of this one; empty if it may not be opened."""
    try:
        descriptor = os.open(f"/proc/{copy.process}/fd/{copy.descriptor}", os.O_RDONLY)
    except OSError:
        return ()
    try:
        return [_rows([_array(descriptor, piece, mmap.ACCESS_COPY) for piece in part], layout) for part in copy.parts]
    finally:
        os.close(descriptor)


def _rows(arrays: Sequence[Array], layout: Layout) -> EncodedRows:
    floats, ints, rows, *pairs = arrays
    columns = list(zip(pairs[::2], pairs[1::2], strict=True))
    lists = columns[: len(columns) - len(layout.images)]
    contents = columns[len(lists) :]
    return EncodedRows(
        torch.from_numpy(floats),
        torch.from_numpy(ints),
        rows,
        tuple(pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(values)) for offsets, values in lists),
        tuple(
            EncodedImages(_binary(offsets, values), column)
            for (offsets, values), column in zip(contents, layout.images, strict=True)
        ),
    )


def _lists(rows: EncodedRows) -> list[Array]:
    """Offsets from 0 and values of each ragged column."""
    found: list[Array] = []
    for column in rows.ragged:
        offsets = column.offsets.to_numpy()
        found += [offsets - offsets[0], column.values.to_numpy()[offsets[0] : offsets[-1]]]
    return found


def _contents(rows: EncodedRows) -> list[Array]:
    """Offsets from 0 and bytes of each column of images."""
    found: list[Array] = []
    for column in rows.images:
        array = column.contents
        offsets = np.frombuffer(array.buffers()[1], np.int64, len(array) + 1, array.offset * 8)
        data = np.frombuffer(array.buffers()[2] or b"", np.uint8)
        found += [offsets - offsets[0], data[offsets[0] : offsets[-1]]]
    return found


def _binary(offsets: Array, values: Array) -> pa.LargeBinaryArray:
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(values)]
    return pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)


def _array(descriptor: int, piece: Piece, access: int) -> Array:
    count = math.prod(piece.shape)
    if not count:
        return np.empty(piece.shape, piece.dtype)
    memory = mmap.mmap(descriptor, _bytes(piece), access=access, offset=piece.start)
    return np.frombuffer(memory, piece.dtype, count).reshape(piece.shape)


def _bytes(piece: Piece) -> int:
    return math.prod(piece.shape) * np.dtype(piece.dtype).itemsize
