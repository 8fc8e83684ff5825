"""The cuts of an epoch: into global batches, a slice of each for every rank, and passes of a slice."""

from __future__ import annotations

import math
from dataclasses import dataclass

Bounds = tuple[int, int]


@dataclass(frozen=True)
class Cut:
    """Global batches of `global_rows` rows, each cut into `world` slices; `rank` is the index of this process's slice.

    `pass_rows`: the maximum rows of a pass; None: a slice is one pass. `virtual_rows`: the maximum rows of a virtual
    batch of ghost norm. Slices and passes then hold whole virtual batches, so a rank may have no rows, and a pass has
    more than `pass_rows` rows where these are fewer than a virtual batch.
    """

    global_rows: int
    rank: int = 0
    world: int = 1
    pass_rows: int | None = None
    virtual_rows: int | None = None

    def bounds(self, rows: int, first: int) -> list[Bounds]:
        """This rank's slice [start, stop) of each global batch, from row `first` (a multiple of `global_rows`) on."""
        found = []
        for start in range(first, rows, self.global_rows):
            length = min(self.global_rows, rows - start)
            found.append((start + self._edge(length, self.rank), start + self._edge(length, self.rank + 1)))
        return found

    def _edge(self, rows: int, rank: int) -> int:
        """The rows of a global batch of `rows` rows before the slice of `rank`."""
        unit = self.unit(rows)
        return min(rows, math.ceil(rows / unit) * rank // self.world * unit)

    def unit(self, rows: int) -> int:
        """The rows of a virtual batch in a global batch of `rows` rows; 1 without ghost norm.

        As `torch.chunk` does: as many virtual batches as needed, of nearly the same size.
        """
        return 1 if self.virtual_rows is None else math.ceil(rows / math.ceil(rows / self.virtual_rows))

    def passes(self, rows: int) -> list[slice]:
        """The passes of every rank's slice of a global batch of `rows` rows: as many as the largest slice needs."""
        unit = self.unit(rows)
        largest = math.ceil(math.ceil(rows / unit) / self.world) * unit
        if self.pass_rows is None or min(rows, largest) <= self.pass_rows:
            size = largest
        else:
            size = max(unit, self.pass_rows // unit * unit)
        return [slice(start, start + size) for start in range(0, largest, size)]
