"""Count, mean, standard deviation and range of numbers: computed per block in float64, merged in the blocks' order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright_trainer.features.texts import counts_of, total

Floats = npt.NDArray[np.float64]
BINS = 20
_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Moments:
    """`m2` is the sum of squared distances from the mean. `kept` and `counts` are empty if they are not needed."""

    rows: int
    missing: int
    count: int
    mean: float
    m2: float
    minimum: float
    maximum: float
    kept: tuple[Floats, ...] = field(default=())
    counts: tuple[pa.Table, ...] = field(default=())

    @property
    def std(self) -> float:
        """The population's standard deviation."""
        return float(np.sqrt(self.m2 / self.count))

    def quartiles(self) -> list[float]:
        """The three quartiles, interpolated linearly between two values, as numpy does by default."""
        found: list[float] = np.quantile(np.concatenate(self.kept), [0.25, 0.5, 0.75]).tolist()
        return found

    def mode(self) -> float | None:
        """The most frequent value, and of several the smallest; None if values were not counted."""
        return float(total(self.counts)["value"][0].as_py()) if self.counts else None


def observe(numbers: Floats, rows: int, missing: int, keep: bool, count: bool) -> Moments:
    """The state of one block of `rows` rows. `numbers` are its numbers without missing values and outliers."""
    if not len(numbers):
        return Moments(rows, missing, 0, 0.0, 0.0, np.inf, -np.inf)
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow shows as an infinite m2
        minimum, maximum = float(numbers.min()), float(numbers.max())
        # The mean of equal numbers can differ from them in its last bit, which would be their standard deviation.
        mean = minimum if minimum == maximum else float(numbers.mean())
        distances = numbers - mean
        m2 = float(np.sum(np.square(distances, out=distances)))  # a BLAS dot product's order depends on its threads
    return Moments(
        rows,
        missing,
        len(numbers),
        mean,
        m2,
        minimum,
        maximum,
        (numbers,) if keep else (),
        (counts_of(pa.array(numbers + 0.0)),) if count else (),  # -0.0 is 0.0
    )


def merge(states: Sequence[Moments]) -> Moments:
    """The state of all blocks, merged by Chan's formula from left to right."""
    merged = reduce(_merge, states)
    return replace(merged, counts=(total(merged.counts),)) if len(merged.counts) > 1 else merged


def _merge(left: Moments, right: Moments) -> Moments:
    count = left.count + right.count
    mean, m2 = left.mean, left.m2
    if right.count:
        distance = right.mean - left.mean
        mean += distance * right.count / count
        m2 += right.m2 + distance * distance * left.count * right.count / count
    return Moments(
        left.rows + right.rows,
        left.missing + right.missing,
        count,
        mean,
        m2,
        min(left.minimum, right.minimum),
        max(left.maximum, right.maximum),
        left.kept + right.kept,
        left.counts + right.counts,
    )


def edges(minimum: float, maximum: float) -> Floats:
    """The edges of the histogram's bins. If minimum and maximum are equal, the range is widened around them."""
    if minimum == maximum:
        margin = max(0.5, abs(minimum) * 1e-9)  # large enough for distinct edges in float64
        minimum, maximum = max(minimum - margin, -_LARGEST), min(maximum + margin, _LARGEST)
    return np.linspace(minimum, maximum, BINS + 1)


def histogram(numbers: Floats, minimum: float, maximum: float) -> npt.NDArray[np.int64]:
    """int64 [BINS]: the counts in equal bins over [minimum, maximum]. The last bin includes its right edge."""
    first, *_, last = edges(minimum, maximum)
    places = numbers - first
    places /= last - first
    places *= BINS
    bins = places.astype(np.int64)
    return np.bincount(np.minimum(bins, BINS - 1, out=bins), minlength=BINS)
