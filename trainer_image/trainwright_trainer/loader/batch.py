"""A batch: one tensor per dtype for all dense columns, and values with offsets for each ragged column.

The layout gives the columns of each feature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch


@dataclass(frozen=True)
class ColumnRange:
    """The columns of one feature: [start, stop) of `Batch.floats` or `Batch.ints`, or item `start` of `Batch.ragged`.

    A feature with a ragged column has only that one.
    """

    kind: Literal["floats", "ints", "ragged"]
    start: int
    stop: int


@dataclass(frozen=True)
class Layout:
    """The columns of each feature. Inputs come first, in the order of the config, then targets."""

    columns: Mapping[str, ColumnRange]
    float_width: int
    int_width: int


@dataclass(frozen=True)
class Ragged:
    """A column with a sequence of numbers in each row: row i has `values[offsets[i]:offsets[i + 1]]`, in its order.

    `values`: int64 [n]. `offsets`: int64 [rows + 1], from 0 to n. `bounds`: the offsets once more, on the host, so that
    rows can be taken and the longest row is known without waiting for the device.
    """

    values: torch.Tensor
    offsets: torch.Tensor
    bounds: npt.NDArray[np.int64]

    @classmethod
    def of(cls, values: npt.NDArray[np.integer], bounds: npt.NDArray[np.int64]) -> Ragged:
        """Copies both. `bounds` may begin at any number, the offset of the first row in `values`."""
        first, last = int(bounds[0]), int(bounds[-1])
        own = bounds - first
        return cls(torch.from_numpy(values[first:last].astype(np.int64)), torch.from_numpy(own), own)

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def part(self, rows: slice) -> Ragged:
        """Some of the rows. The values are a view."""
        start, stop, _ = rows.indices(len(self))
        bounds = self.bounds[start : max(start, stop) + 1]
        first, last = int(bounds[0]), int(bounds[-1])
        offsets = self.offsets[start : max(start, stop) + 1] - first
        return Ragged(self.values[first:last], offsets, bounds - first)

    def take(self, positions: npt.NDArray[np.int64]) -> Ragged:
        """A copy of the rows at `positions`, in that order."""
        lengths = np.diff(self.bounds)[positions]
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        shift = np.repeat(self.bounds[positions] - bounds[:-1], lengths)
        index = torch.from_numpy(np.arange(bounds[-1]) + shift).to(self.values.device)
        return Ragged(self.values[index], torch.from_numpy(bounds).to(self.values.device), bounds)


@dataclass(frozen=True)
class Padded:
    """A ragged column as two dense tensors, for an exported graph, whose shapes cannot depend on values.

    `index`: int64 [rows, length], the numbers of each row and then zeros. `lengths`: int64 [rows].
    """

    index: torch.Tensor
    lengths: torch.Tensor


@dataclass(frozen=True)
class Batch:
    """Some rows. `floats`: [rows, float_width], float32 or float64. `ints`: [rows, int_width], int64. `rows`: the rows'
    numbers in the source. `ragged`: the ragged columns."""

    floats: torch.Tensor
    ints: torch.Tensor
    rows: npt.NDArray[np.int64]
    ragged: tuple[Ragged, ...] = ()

    def of(self, columns: ColumnRange) -> torch.Tensor | Ragged:
        """The columns of one feature: a view of shape [rows, stop - start], or its ragged column."""
        if columns.kind == "ragged":
            return self.ragged[columns.start]
        tensor = self.floats if columns.kind == "floats" else self.ints
        return tensor[:, columns.start : columns.stop]

    def permuted(self, columns: ColumnRange, order: npt.NDArray[np.int64]) -> Batch:
        """A copy whose row i has the values of row `order[i]` in the columns of one feature."""
        if columns.kind == "ragged":
            ragged = list(self.ragged)
            ragged[columns.start] = ragged[columns.start].take(order)
            return replace(self, ragged=tuple(ragged))
        tensor = (self.floats if columns.kind == "floats" else self.ints).clone()
        own = tensor[:, columns.start : columns.stop]
        own.copy_(own[torch.from_numpy(order).to(own.device)])
        return replace(self, floats=tensor) if columns.kind == "floats" else replace(self, ints=tensor)

    def part(self, rows: slice) -> Batch:
        """The batch of some of the rows, as views."""
        ragged = tuple(column.part(rows) for column in self.ragged)
        return Batch(self.floats[rows], self.ints[rows], self.rows[rows], ragged)

    def on(self, device: torch.device | None) -> Batch:
        """The batch on `device`. The copy to a GPU runs while the GPU computes."""
        if device is None or device.type == "cpu":
            return self
        ragged = tuple(
            Ragged(_copied(column.values, device), _copied(column.offsets, device), column.bounds)
            for column in self.ragged
        )
        return Batch(_copied(self.floats, device), _copied(self.ints, device), self.rows, ragged)


def _copied(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    return tensor.pin_memory().to(device, non_blocking=True)


def joined(batches: Sequence[Batch]) -> Batch:
    """A copy of the rows of all batches, in their order."""
    columns = zip(*(batch.ragged for batch in batches), strict=True)
    return Batch(
        torch.cat([batch.floats for batch in batches]),
        torch.cat([batch.ints for batch in batches]),
        np.concatenate([batch.rows for batch in batches]),
        tuple(_joined_ragged(column) for column in columns),
    )


def _joined_ragged(columns: Sequence[Ragged]) -> Ragged:
    bounds = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(column.bounds) for column in columns]))])
    values = torch.cat([column.values for column in columns])
    return Ragged(values, torch.from_numpy(bounds).to(values.device), bounds)
