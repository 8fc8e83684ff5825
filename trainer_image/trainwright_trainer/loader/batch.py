"""A batch: one tensor per dtype for all dense columns, values with offsets for each ragged column, and images.

The layout gives the columns of each feature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch
import torch.nn.functional as F

from trainwright_api.config.augmentation import Augmentation
from trainwright_trainer.features.pixels import ImageShape, shaped


@dataclass(frozen=True)
class ColumnRange:
    """The columns of one feature: [start, stop) of `Batch.floats` or `Batch.ints`, or item `start` of `Batch.ragged`
    or of `Batch.images`.

    A feature with a ragged column or a column of images has only that one.
    """

    kind: Literal["floats", "ints", "ragged", "images"]
    start: int
    stop: int


@dataclass(frozen=True)
class ImageColumn:
    """The decoding of the images of one feature. `threads`: the most that do it. `position`: the number of the feature
    among all images of the config, from which its random draws follow."""

    shape: ImageShape
    augmentation: tuple[Augmentation, ...] = ()
    threads: int = 1
    position: int = 0


@dataclass(frozen=True)
class EncodedImages:
    """The encoded images of some rows, which are decoded when they are used."""

    contents: pa.LargeBinaryArray
    column: ImageColumn

    def __len__(self) -> int:
        return len(self.contents)

    def __getitem__(self, rows: slice) -> EncodedImages:
        return EncodedImages(self.contents[rows], self.column)

    def take(self, positions: npt.NDArray[np.int64]) -> EncodedImages:
        return EncodedImages(self.contents.take(pa.array(positions)), self.column)

    def decoded(self) -> torch.Tensor:
        """uint8 [rows, channels, height, width], without augmentation."""
        shape = self.column.shape
        found = torch.empty((len(self), shape.channels, shape.height, shape.width), dtype=torch.uint8)
        for row in range(len(self)):
            found[row] = shaped(self.contents[row].as_buffer(), shape)
        return found


@dataclass(frozen=True)
class Layout:
    """The columns of each feature. Inputs come first, in the order of the config, then targets."""

    columns: Mapping[str, ColumnRange]
    float_width: int
    int_width: int
    images: tuple[ImageColumn, ...] = ()


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
    numbers in the source. `ragged`: the ragged columns. `images`: for each column of images uint8 [rows, channels,
    height, width], or its encoded images."""

    floats: torch.Tensor
    ints: torch.Tensor
    rows: npt.NDArray[np.int64]
    ragged: tuple[Ragged, ...] = ()
    images: tuple[torch.Tensor | EncodedImages, ...] = ()

    def of(self, columns: ColumnRange) -> torch.Tensor | Ragged:
        """The columns of one feature: a view of shape [rows, stop - start], or its ragged column, or its images."""
        if columns.kind == "images":
            images = self.images[columns.start]
            return images if isinstance(images, torch.Tensor) else images.decoded().to(self.floats.device)
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
        if columns.kind == "images":
            images = list(self.images)
            chosen = images[columns.start]
            images[columns.start] = (
                chosen[torch.from_numpy(order)] if isinstance(chosen, torch.Tensor) else chosen.take(order)
            )
            return replace(self, images=tuple(images))
        tensor = (self.floats if columns.kind == "floats" else self.ints).clone()
        own = tensor[:, columns.start : columns.stop]
        own.copy_(own[torch.from_numpy(order).to(own.device)])
        return replace(self, floats=tensor) if columns.kind == "floats" else replace(self, ints=tensor)

    def total_lengths(self) -> npt.NDArray[np.int64]:
        """int64 [rows]: the number of values of each row in all ragged columns."""
        return sum((np.diff(column.bounds) for column in self.ragged), np.zeros(len(self.rows), np.int64))

    def take(self, positions: npt.NDArray[np.int64]) -> Batch:
        """A copy of the rows at `positions`, in that order."""
        index = torch.from_numpy(positions).to(self.floats.device)
        ragged = tuple(column.take(positions) for column in self.ragged)
        images = tuple(
            column[index] if isinstance(column, torch.Tensor) else column.take(positions) for column in self.images
        )
        return Batch(self.floats[index], self.ints[index], self.rows[positions], ragged, images)

    def part(self, rows: slice) -> Batch:
        """The batch of some of the rows, as views."""
        ragged = tuple(column.part(rows) for column in self.ragged)
        images = tuple(column[rows] for column in self.images)
        return Batch(self.floats[rows], self.ints[rows], self.rows[rows], ragged, images)

    def on(self, device: torch.device | None) -> Batch:
        """The batch on `device`. The CPU does not wait for the copy to a GPU."""
        if device is None or device.type == "cpu":
            return self
        ragged = tuple(
            Ragged(copied(column.values, device), copied(column.offsets, device), column.bounds)
            for column in self.ragged
        )
        images = tuple(copied(column, device) if isinstance(column, torch.Tensor) else column for column in self.images)
        return Batch(copied(self.floats, device), copied(self.ints, device), self.rows, ragged, images)

    def used_in(self, stream: torch.cuda.Stream) -> None:
        """Keep the memory of a batch on a GPU until the work that is queued in `stream` by its end has used it."""
        ragged = [tensor for column in self.ragged for tensor in (column.values, column.offsets)]
        images = [column for column in self.images if isinstance(column, torch.Tensor)]
        for tensor in (self.floats, self.ints, *ragged, *images):
            tensor.record_stream(stream)


def copied(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """The tensor on `device`, by way of pinned memory. A tensor that is there already stays as it is."""
    if tensor.device.type == device.type:
        return tensor
    return (tensor if tensor.is_pinned() else tensor.pin_memory()).to(device, non_blocking=True)


def joined(batches: Sequence[Batch]) -> Batch:
    """A copy of the rows of all batches, in their order."""
    columns = zip(*(batch.ragged for batch in batches), strict=True)
    return Batch(
        torch.cat([batch.floats for batch in batches]),
        torch.cat([batch.ints for batch in batches]),
        np.concatenate([batch.rows for batch in batches]),
        tuple(_joined_ragged(column) for column in columns),
        tuple(_joined_images(column) for column in zip(*(batch.images for batch in batches), strict=True)),
    )


def _joined_images(columns: Sequence[torch.Tensor | EncodedImages]) -> torch.Tensor | EncodedImages:
    encoded = [column for column in columns if isinstance(column, EncodedImages)]
    if encoded:
        return EncodedImages(pa.concat_arrays([column.contents for column in encoded]), encoded[0].column)
    return torch.cat([column for column in columns if isinstance(column, torch.Tensor)])


def _joined_ragged(columns: Sequence[Ragged]) -> Ragged:
    bounds = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(column.bounds) for column in columns]))])
    values = torch.cat([column.values for column in columns])
    return Ragged(values, torch.from_numpy(bounds).to(values.device), bounds)


def padded(columns: Ragged | Padded, least: int = 1, other: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """int64 [rows, length]: the numbers of each row, then `other`; and int64 [rows], the lengths.

    `length` is that of the longest row, and `least` at least. A column that is padded already keeps its length.
    """
    if isinstance(columns, Padded):
        return F.pad(columns.index, (0, max(0, least - columns.index.shape[1]))), columns.lengths
    length = int(np.diff(columns.bounds).max(initial=least))
    lengths = columns.offsets.diff()
    counts = torch.arange(length, device=lengths.device) < lengths.unsqueeze(1)
    index = columns.values.new_full((len(columns), length), other)
    return index.masked_scatter(counts, columns.values), lengths
