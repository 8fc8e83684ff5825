"""The split `datetime`: the oldest rows are for training, the newest for test. Rows of one second keep their order.

Three passes over the column, each with a bounded state: two find the second of each border between parts, digit by
digit, from histograms; the third compares each row with the borders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.data.split import Parts, divided, thresholds
from trainwright_trainer.features.column import Mask
from trainwright_trainer.features.errors import BadValueError
from trainwright_trainer.features.times import read_times, text_of

Seconds = npt.NDArray[np.int64]

_FIRST = -62_135_596_800
"""0001-01-01 in seconds since 1970."""
_DIGIT = 20
_BINS = 1 << _DIGIT
"""Two digits of 20 bits hold the seconds of the years 1 to 34,842."""
_HALF = 1 << 31
_NO_DATE = (
    "holds {value} in row {row}, which is no date{expected}; a datetime split needs one in every row. "
    "Set preprocessing.split.datetime_format, or correct the row. (Row 1 is the first row of data.)"
)


@dataclass(frozen=True)
class Border:
    """The end of a part: it holds the rows of earlier seconds, and the first `ties` rows of this second."""

    second: int
    ties: int


def seconds_of(values: pa.Array, first_row: int, form: str | None) -> Seconds:
    """int64 [rows]: the local time of each value in seconds since the year 1, rounded down.

    Raises `BadValueError` for the first value that is missing or no date, and `WrongTypeError`.
    """
    times = read_times(values, form)
    seconds: Seconds = pc.cast(times, pa.int64()).fill_null(_FIRST - 1).to_numpy() - _FIRST
    wrong = np.flatnonzero((seconds < 0) | (seconds >= _BINS * _BINS))
    if len(wrong):
        row = int(wrong[0])
        expected = "" if form is None else f" of the form {form}".replace("{", "{{").replace("}", "}}")
        raise BadValueError(first_row + row, text_of(values, row), _NO_DATE.replace("{expected}", expected))
    return seconds


def borders(blocks: Callable[[], Iterable[Seconds]], probabilities: Sequence[float]) -> list[Border]:
    """The ends of the training and of the validation part. `blocks` starts a new pass over the rows that are divided.

    The sizes of the parts are exact to within one row.
    """
    coarse = _histogram(block >> _DIGIT for block in blocks())
    ends = divided(int(coarse.sum()), thresholds(probabilities), _HALF)
    digits = [_bin_of(coarse, end) for end in ends]
    fine = {digit: np.zeros(_BINS, dtype=np.int64) for digit, _ in digits}
    for block in blocks():
        for digit, counts in fine.items():
            _add(counts, block[block >> _DIGIT == digit] & (_BINS - 1))
    return [_border(digit, *_bin_of(fine[digit], rest)) for digit, rest in digits]


def _border(digit: int, low: int, ties: int) -> Border:
    return Border((digit << _DIGIT) + low, ties)


def _histogram(blocks: Iterable[Seconds]) -> Seconds:
    counts = np.zeros(_BINS, dtype=np.int64)
    for block in blocks:
        _add(counts, block)
    return counts


def _add(counts: Seconds, digits: Seconds) -> None:
    if len(digits):
        low = int(digits.min())
        found = np.bincount(digits - low)
        counts[low : low + len(found)] += found


def _bin_of(counts: Seconds, rank: int) -> tuple[int, int]:
    """The bin that holds the row with this rank, counted from 0, and the rank within the bin. Past all rows: the end
    of the last bin that has rows."""
    until = np.cumsum(counts)
    found = int(np.searchsorted(until, min(rank, int(until[-1]) - 1), side="right"))
    return found, rank - int(until[found] - counts[found])


def parts_by_time(blocks: Iterable[Seconds], ends: Sequence[Border]) -> Iterator[Parts]:
    """uint8 [rows] for each block, in the order of the source."""
    seen = [0] * len(ends)
    for block in blocks:
        parts = np.zeros(len(block), dtype=np.uint8)
        for at, end in enumerate(ends):
            ties = block == end.second
            numbers = np.cumsum(ties) + seen[at]
            parts += (block > end.second) | (ties & (numbers > end.ties))
            seen[at] += int(np.count_nonzero(ties))
        yield parts


def sampled_seconds(
    blocks: Iterable[pa.Array], first_rows: Sequence[int], kept: Sequence[Mask], form: str | None
) -> Iterator[Seconds]:
    """The seconds of the rows that `kept` selects, block by block."""
    for values, first_row, mask in zip(blocks, first_rows, kept, strict=True):
        yield seconds_of(values, first_row, form)[mask]
