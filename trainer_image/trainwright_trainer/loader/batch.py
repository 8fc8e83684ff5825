"""A batch has one tensor per dtype, not one per column. The layout gives the columns of each feature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch


@dataclass(frozen=True)
class ColumnRange:
    """Columns [start, stop) of `Batch.floats` or `Batch.ints`."""

    tensor: Literal["floats", "ints"]
    start: int
    stop: int


@dataclass(frozen=True)
class Layout:
    """The columns of each feature. Inputs come first, in the order of the config, then targets."""

    columns: Mapping[str, ColumnRange]
    float_width: int
    int_width: int


@dataclass(frozen=True)
class Batch:
    """`floats`: [rows, float_width], float32 or float64. `ints`: [rows, int_width], int64. `rows`: source rows."""

    floats: torch.Tensor
    ints: torch.Tensor
    rows: npt.NDArray[np.int64]

    def of(self, columns: ColumnRange) -> torch.Tensor:
        """The columns of one feature: a view of shape [rows, stop - start]."""
        tensor = self.floats if columns.tensor == "floats" else self.ints
        return tensor[:, columns.start : columns.stop]

    def part(self, rows: slice) -> Batch:
        """The batch of some of the rows, as views."""
        return Batch(self.floats[rows], self.ints[rows], self.rows[rows])
