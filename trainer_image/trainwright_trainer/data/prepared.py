"""The result of preprocessing: encoded columns in source order, the split of every row, and the statistics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

# The parts of a split, as they are stored: one uint8 code for each row.
TRAIN, VALIDATION, TEST, UNSAMPLED = 0, 1, 2, 3
SPLIT_NAMES = ("train", "validation", "test")


@dataclass(frozen=True)
class Prepared:
    """A data set after both passes. Everything is in source order and has `rows` entries.

    `columns[feature name]` is the encoded column; a null marks a row that the feature drops.
    `statistics[feature name]` is plain JSON: it is stored in the cache and in the model folder.
    `finish` waits until the cache is written, and returns notices of its failures; call it before the process ends.
    """

    dataset: str
    rows: int
    splits: npt.NDArray[np.uint8]
    columns: Mapping[str, pa.ChunkedArray]
    statistics: Mapping[str, Mapping[str, Any]]
    content: str
    cache_key: str
    cache_hit: bool
    notices: tuple[str, ...] = field(default=())
    finish: Callable[[], tuple[str, ...]] = field(default=tuple, compare=False)
