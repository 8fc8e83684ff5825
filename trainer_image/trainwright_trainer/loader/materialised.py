"""The encoded data as one tensor per dtype and split, filled directly from Arrow, and the batches of an epoch.

A row is valid if no feature is null. Order and batches count valid rows only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch

from trainwright_trainer.data import order
from trainwright_trainer.data.prepared import SPLIT_NAMES, Prepared
from trainwright_trainer.loader.batch import Batch, Layout
from trainwright_trainer.loader.cut import Cut

# Rows that are copied at a time, to fill a tensor and to gather an epoch, so that they stay in a core's cache.
_FILL_ROWS = 65_536
_GATHER_ROWS = 16_384


@dataclass(frozen=True)
class Split:
    """The valid rows of one part, in source order: `floats` [n, F], `ints` [n, C] int64, `rows` source row numbers.

    A row stands there once for each of its copies.
    """

    floats: torch.Tensor
    ints: torch.Tensor
    rows: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    def batches(self, size: int) -> Iterator[Batch]:
        """Every row once, in source order, `size` at a time, as views."""
        for start in range(0, len(self), size):
            part = slice(start, start + size)
            yield Batch(self.floats[part], self.ints[part], self.rows[part])


def materialise(prepared: Prepared, layout: Layout, dtype: torch.dtype) -> dict[str, Split]:
    """The splits train, validation and test of `prepared`, which may be empty. `dtype` is the dtype of `floats`."""
    return {name: _fill(prepared, layout, dtype, prepared.rows_of(code)) for code, name in enumerate(SPLIT_NAMES)}


def everything(prepared: Prepared, layout: Layout, dtype: torch.dtype) -> Split:
    """All valid rows, of every split. `predict` reads them."""
    return _fill(prepared, layout, dtype, np.flatnonzero(prepared.valid))


def _fill(prepared: Prepared, layout: Layout, dtype: torch.dtype, rows: npt.NDArray[np.int64]) -> Split:
    floats = torch.empty((len(rows), layout.float_width), dtype=dtype)
    ints = torch.empty((len(rows), layout.int_width), dtype=torch.int64)
    targets = {"floats": floats.numpy(), "ints": ints.numpy()}
    # Block by block, so that the rows being written stay in the CPU cache while one column after another is copied.
    for start in range(0, prepared.rows, _FILL_ROWS):
        low, high = np.searchsorted(rows, (start, start + _FILL_ROWS))
        for name, place in layout.columns.items():
            block = prepared.columns[name].slice(start, _FILL_ROWS)
            target = targets[place.tensor][low:high, place.start : place.stop]
            _fill_block(block, rows[low:high] - start, target)
    return Split(floats, ints, rows)


def _fill_block(block: pa.ChunkedArray, rows: npt.NDArray[np.int64], target: npt.NDArray[np.generic]) -> None:
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


def epoch_positions(split: Split, seed: int, epoch: int) -> npt.NDArray[np.int64]:
    """int64 [n]: positions in `split` in the order of the epoch. `order.epoch_order` gives their row numbers."""
    return order.epoch_positions(seed, epoch, split.rows)


def epoch_batches(
    split: Split,
    positions: npt.NDArray[np.int64] | None,
    cut: Cut,
    first: int = 0,
    device: torch.device | None = None,
) -> Iterator[Batch]:
    """This process's slice of every global batch of an epoch, from row `first` of the epoch's order on.

    `positions` is the epoch's order; None means the source order. Slices of several batches are gathered at once, so
    that each step gets cheap views. A GPU receives them through pinned memory while it computes.
    """
    bounds = cut.bounds(len(split), first)
    together = max(1, _GATHER_ROWS // cut.global_rows)
    for start in range(0, len(bounds), together):
        yield from _gathered(split, positions, bounds[start : start + together], device)


def _gathered(
    split: Split,
    positions: npt.NDArray[np.int64] | None,
    bounds: list[tuple[int, int]],
    device: torch.device | None,
) -> Iterator[Batch]:
    chosen = np.arange(bounds[0][0], bounds[-1][1]) if positions is None else positions[bounds[0][0] : bounds[-1][1]]
    if len(chosen) != sum(stop - start for start, stop in bounds):
        chosen = np.concatenate([chosen[start - bounds[0][0] : stop - bounds[0][0]] for start, stop in bounds])
    index = torch.from_numpy(chosen)
    floats, ints = (tensor.index_select(0, index) for tensor in (split.floats, split.ints))
    there = moved(Batch(floats, ints, split.rows[chosen]), device)
    done = 0
    for start, stop in bounds:
        yield there.part(slice(done, done + stop - start))
        done += stop - start


def moved(batch: Batch, device: torch.device | None) -> Batch:
    """The batch on `device`. The copy to a GPU runs while the GPU computes."""
    if device is None or device.type == "cpu":
        return batch
    return Batch(_copied(batch.floats, device), _copied(batch.ints, device), batch.rows)


def _copied(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    return tensor.pin_memory().to(device, non_blocking=True)


def sizes(splits: Mapping[str, Split]) -> dict[str, int]:
    """The number of valid rows of each split."""
    return {name: len(split) for name, split in splits.items()}
