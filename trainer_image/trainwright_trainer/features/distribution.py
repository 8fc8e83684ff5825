"""The distribution of a feature's values in the training rows, as the report draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_SHOWN = 20
"""Values of a column that the report shows by name."""


@dataclass(frozen=True)
class Histogram:
    """Rows in bins of equal width, from the first bin's left edge `low` to the last bin's right edge `high`."""

    low: str
    high: str
    rows: Sequence[int]


@dataclass(frozen=True)
class Frequencies:
    """The most frequent values with their row counts, in descending order. `rows` is the denominator of a share.

    `more_values` and `more_rows` count the other known values and their rows. Missing and rare values are the rest.
    """

    values: Sequence[tuple[str, int]]
    rows: int
    more_values: int = 0
    more_rows: int = 0

    @classmethod
    def most_common(cls, values: Sequence[tuple[str, int]], rows: int) -> Frequencies:
        """The first `MOST_SHOWN` of all known values, which are in descending order; the others are counted."""
        more = values[MOST_SHOWN:]
        return cls(values[:MOST_SHOWN], rows, len(more), sum(count for _, count in more))


Distribution = Histogram | Frequencies
