"""The splits that give each row its part by itself, and samples, as `docs/row-order.md` defines them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.data.order import Purpose, hashes, key
from trainwright_trainer.data.prepared import SPLIT_NAMES
from trainwright_trainer.features.errors import BadValueError
from trainwright_trainer.features.spellings import indices_in
from trainwright_trainer.features.texts import dictionary_of

Parts = npt.NDArray[np.uint8]


def thresholds(probabilities: Sequence[float]) -> list[int]:
    """The upper bound of each part in [0, 2^32). The last part with a probability above 0 takes the rest."""
    bounds = [int(total * 2**32) for total in accumulate(probabilities)]
    last = max(part for part, probability in enumerate(probabilities) if probability > 0)
    return [*bounds[:last], *([2**32] * (len(bounds) - last))]


def divided(rows: int, limits: Sequence[int], offset: int) -> tuple[int, int]:
    """The ends of the training and of the validation part of `rows` rows. The test part takes the rest.

    `limits` are the `thresholds`. `offset`, in [0, 2^32), rounds the ends: each part is exact to within one row. The
    training part has at least one row.
    """
    training, validation = ((limit * rows + offset) >> 32 for limit in limits[:2])
    training = max(training, min(rows, 1))
    return training, max(training, validation)


def _parts_of(points: npt.NDArray[np.uint64], probabilities: Sequence[float]) -> Parts:
    bounds = np.asarray(thresholds(probabilities), dtype=np.uint64)
    return np.searchsorted(bounds, points, side="right").astype(np.uint8)


def random_parts(seed: int, rows: npt.NDArray[np.int64], probabilities: Sequence[float]) -> Parts:
    """The part of each row, which depends only on (seed, row number)."""
    return _parts_of(hashes(key(seed, Purpose.SPLIT), rows) >> np.uint64(32), probabilities)


def hash_parts(values: pa.Array, probabilities: Sequence[float]) -> Parts:
    """The part of each value, which depends only on its text. A missing value counts as the empty text."""
    coded = dictionary_of(values)
    texts = [*coded.dictionary.to_pylist(), ""]
    points = np.array([zlib.crc32(text.encode()) for text in texts], dtype=np.uint64)
    codes = pc.fill_null(coded.indices, len(texts) - 1).to_numpy(zero_copy_only=False)
    parts: Parts = _parts_of(points, probabilities)[codes]
    return parts


_NO_PART = "holds {value} in row {row}; a part is 0, 1, 2 or train, validation, test. (Row 1 is the first row of data.)"
_WORDS = ("0", "1", "2", *SPLIT_NAMES)
_MEANT = np.array([0, 1, 2, 0, 1, 2, -1], dtype=np.int8)
"""The parts of the words, then -1 for any other text."""


def fixed_parts(values: pa.Array, first_row: int) -> Parts:
    """The part that each value names: 0, 1, 2 or train, validation, test.

    Raises `BadValueError` for the first other value; `first_row` is the row number of the block's first row.
    """
    coded = dictionary_of(values)
    words = pc.utf8_lower(pc.utf8_trim_whitespace(coded.dictionary))
    known = np.append(_MEANT[pc.fill_null(indices_in(words, _WORDS), len(_WORDS)).to_numpy()], np.int8(-1))
    parts: npt.NDArray[np.int8] = known[pc.fill_null(coded.indices, len(words)).to_numpy(zero_copy_only=False)]
    wrong = np.flatnonzero(parts < 0)
    if len(wrong):
        raise BadValueError(first_row + int(wrong[0]), values[int(wrong[0])].as_py(), _NO_PART)
    return parts.astype(np.uint8)


def within_ratio(seed: int, numbers: npt.NDArray[np.int64], ratio: float) -> npt.NDArray[np.bool_]:
    """True for the row numbers whose hash is below `ratio` · 2^64."""
    if ratio >= 1:
        return np.ones(len(numbers), dtype=np.bool_)
    points = hashes(key(seed, Purpose.SAMPLE), numbers)
    return points < np.uint64(int(ratio * 2**64))


def sampled(seed: int, rows: int, ratio: float, size: int | None) -> npt.NDArray[np.bool_]:
    """bool [rows]: True for the sampled rows.

    These are the rows whose hash is below `ratio` · 2^64, and of them the `size` rows with the smallest hashes.
    """
    kept = within_ratio(seed, np.arange(rows), ratio)
    if size is None or size >= np.count_nonzero(kept):
        return kept
    candidates = np.flatnonzero(kept)
    points = hashes(key(seed, Purpose.SAMPLE), candidates)
    smallest = candidates[np.argpartition(points, size)[:size]]
    chosen = np.zeros(rows, dtype=np.bool_)
    chosen[smallest] = True
    return chosen
