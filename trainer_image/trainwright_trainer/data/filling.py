"""Fill the gaps of a column from its neighbours, block by block: `ffill` and `bfill` reach across blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright_trainer.features.column import Encoded, Mask
from trainwright_trainer.features.missing import fill_from_neighbours


class Filling:
    """Takes the encoded blocks of a column in their order, and gives them back in this order with their gaps filled.

    A block whose gaps need a later row waits until a row with a value of its own comes, or the end.
    """

    def __init__(self) -> None:
        self._before: pa.Array | None = None  # the last given row, as an array of one row
        self._waiting: list[Encoded] = []

    def add(self, block: Encoded) -> Iterator[pa.Array]:
        """The blocks that are complete now."""
        given = np.flatnonzero(block.values.is_valid().to_numpy(zero_copy_only=False))
        if self._waiting and len(given):
            yield from self._filled(_row(block.values, given[0]))
        self._waiting.append(block)
        if len(self._waiting) == 1 and not self._needs_more(block, given):
            yield from self._filled(None)

    def end(self) -> Iterator[pa.Array]:
        """The blocks that wait."""
        if self._waiting:
            yield from self._filled(None)

    def _needs_more(self, block: Encoded, given: npt.NDArray[np.intp]) -> bool:
        last = given[-1] if len(given) else -1
        if block.backward is not None and block.backward[last + 1 :].any():
            return True
        return last < 0 and self._before is None and block.forward is not None and bool(block.forward.any())

    def _filled(self, after: pa.Array | None) -> Iterator[pa.Array]:
        """The waiting blocks, filled from the row before them and from the row `after` them."""
        blocks, self._waiting = self._waiting, []
        edges = [None if edge is None else Encoded(edge) for edge in (self._before, after)]
        around = [edge for edge in (edges[0], *blocks, edges[1]) if edge is not None]
        column = pa.concat_arrays([block.values for block in around])
        filled = fill_from_neighbours(column, _mask(around, "forward"), _mask(around, "backward"))
        start = 0 if self._before is None else 1
        given = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False)[: len(column) - (after is not None)])
        if len(given):
            self._before = _row(column, given[-1])
        for block in blocks:
            yield filled.slice(start, len(block.values))
            start += len(block.values)


def _row(values: pa.Array, row: int) -> pa.Array:
    return pa.concat_arrays([values.slice(int(row), 1)])  # a copy, so that the block is freed


def _mask(blocks: Sequence[Encoded], side: str) -> Mask:
    masks = [getattr(block, side) for block in blocks]
    pairs = zip(masks, blocks, strict=True)
    return np.concatenate([np.zeros(len(block.values), np.bool_) if mask is None else mask for mask, block in pairs])
