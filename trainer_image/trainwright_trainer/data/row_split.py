"""The parts of the rows of one block, for the functions that a processor maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from trainwright_trainer.data.prepared import UNSAMPLED
from trainwright_trainer.data.rows import RawColumn
from trainwright_trainer.data.split import Parts, random_parts, within_ratio
from trainwright_trainer.data.split_assignment import parts_of

_BY_ROW = ("random", "hash", "fixed")


class Split(Protocol):
    """Gives the parts of a block's rows. It can be pickled."""

    def of(self, first_row: int, rows: int, values: pa.Array | None) -> Parts:
        """uint8 [rows]. `values` is the raw column of the split, if it reads one. Raises `Mistakes`."""


@dataclass(frozen=True)
class KnownSplit:
    """The parts of all rows."""

    parts: Parts

    def of(self, first_row: int, rows: int, values: pa.Array | None) -> Parts:  # noqa: ARG002
        return self.parts[first_row : first_row + rows]


@dataclass(frozen=True)
class WholePart:
    """Every row is in one part."""

    part: int

    def of(self, first_row: int, rows: int, values: pa.Array | None) -> Parts:  # noqa: ARG002
        return np.full(rows, self.part, dtype=np.uint8)


@dataclass(frozen=True)
class RowSplit:
    """The split of a config that assigns each row by itself."""

    preprocessing: Any
    seed: int

    def of(self, first_row: int, rows: int, values: pa.Array | None) -> Parts:
        numbers = np.arange(first_row, first_row + rows)
        if values is None:
            parts = random_parts(self.seed, numbers, self.preprocessing.split.probabilities)
        else:
            of_all_rows = self.preprocessing.model_copy(update={"sample_ratio": 1.0})
            parts = parts_of(of_all_rows, self.seed, rows, RawColumn([values], [first_row]))
        parts[~within_ratio(self.seed, numbers, self.preprocessing.sample_ratio)] = UNSAMPLED
        return parts


def assigns_by_row(preprocessing: Any) -> bool:
    """True if the part of a row does not depend on other rows."""
    return preprocessing.split.type in _BY_ROW and preprocessing.sample_size is None
