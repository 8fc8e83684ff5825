"""The split `stratify`: each class of a column is divided by the probabilities, exact to within one row.

Two passes over the column, with a few numbers for each class: the first counts the rows of each class, the second
draws the places of the rows within their class.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.data.order import Purpose, hashes, key
from trainwright_trainer.data.permutation import OFFSET_ROW, permuted
from trainwright_trainer.data.split import Parts, divided, thresholds
from trainwright_trainer.features.column import Mask
from trainwright_trainer.features.texts import dictionary_of

Codes = npt.NDArray[np.int64]


class Classes:
    """The classes of a column. A class is the text of a value; a missing value counts as the empty text."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self.sizes: Codes = np.zeros(0, dtype=np.int64)

    def count(self, values: pa.Array, kept: Mask) -> None:
        """Count the rows of a block that `kept` selects."""
        codes = self.codes_of(values)[kept]
        found = np.bincount(codes, minlength=len(self._codes))
        found[: len(self.sizes)] += self.sizes
        self.sizes = found

    def codes_of(self, values: pa.Array) -> Codes:
        """int64 [rows]: the class of each row. New classes get the next numbers."""
        coded = dictionary_of(values)
        texts = [*coded.dictionary.to_pylist(), ""]
        codes = np.array([self._codes.setdefault(text, len(self._codes)) for text in texts], dtype=np.int64)
        rows: Codes = codes[pc.fill_null(coded.indices, len(texts) - 1).to_numpy(zero_copy_only=False)]
        return rows

    def keys(self, seed: int) -> npt.NDArray[np.uint64]:
        """uint64 [classes]: the key of each class."""
        words = (int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) for text in self._codes)
        return np.array([key(seed, Purpose.SPLIT, word) for word in words], dtype=np.uint64)


class StratifiedParts:
    """The parts of a column's rows. `of` takes the blocks in the order of the source, each once."""

    def __init__(self, classes: Classes, seed: int, probabilities: Sequence[float]) -> None:
        self._classes, self._keys = classes, classes.keys(seed)
        offsets = (hashes(self._keys, np.array([OFFSET_ROW])) >> np.uint64(32)).tolist()
        limits = thresholds(probabilities)
        pairs = zip(classes.sizes.tolist(), offsets, strict=True)
        self._bounds = np.array([divided(rows, limits, offset) for rows, offset in pairs], dtype=np.uint64)
        self._seen = np.zeros(len(classes.sizes), dtype=np.int64)

    def of(self, values: pa.Array, kept: Mask) -> Parts:
        """uint8 [rows]: the part of each row. Rows that `kept` does not select are in part 0."""
        parts = np.zeros(len(values), dtype=np.uint8)
        codes = self._classes.codes_of(values)[kept]
        sizes = self._classes.sizes.astype(np.uint64)[codes]
        places = permuted(self._keys[codes], sizes, self._numbers(codes).astype(np.uint64))
        parts[kept] = np.count_nonzero(places[:, None] >= self._bounds[codes], axis=1)
        return parts

    def _numbers(self, codes: Codes) -> Codes:
        """int64 [rows]: the number of earlier rows of the same class, in this block and in those before it."""
        order = np.argsort(codes, kind="stable")
        rows = np.bincount(codes, minlength=len(self._seen))
        firsts = np.cumsum(rows) - rows
        numbers = np.empty_like(codes)
        numbers[order] = np.arange(len(codes)) - firsts[codes[order]]
        numbers += self._seen[codes]
        self._seen += rows
        return numbers
