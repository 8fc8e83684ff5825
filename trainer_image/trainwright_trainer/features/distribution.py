"""How a feature's values are spread over the training rows: what the report draws of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Histogram:
    """Rows in bins of equal width, from the first bin's left edge `low` to the last bin's right edge `high`."""

    low: str
    high: str
    rows: Sequence[int]


@dataclass(frozen=True)
class Frequencies:
    """The most frequent values with their rows, the most frequent first; `rows` are all that a share is of.

    `more_values` and `more_rows`: what is known beyond these. Missing and rare values may be the rest.
    """

    values: Sequence[tuple[str, int]]
    rows: int
    more_values: int = 0
    more_rows: int = 0


Distribution = Histogram | Frequencies
