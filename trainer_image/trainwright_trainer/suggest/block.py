"""The statistics of one column in one block of a table: pure functions, so that threads may map them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.features.column import Points
from trainwright_trainer.features.errors import kind_of
from trainwright_trainer.features.numerals import WITH_SIGNS, numbers_of, without_words
from trainwright_trainer.features.pixels import SUFFIXES
from trainwright_trainer.features.times import read_times
from trainwright_trainer.features.vector_texts import in_brackets, spelt_plainly
from trainwright_trainer.suggest.dates import Seconds, are_no_dates, readings_of, seconds_of

_SAMPLE = 200
"""Values of a block that are looked at one by one: as dates, and for their words."""
MOST_WORDS = 20
"""Of so many different words that are no numbers, the rows are counted."""
_MOST_OF_ONE_WORD = 0.95
NUMBERS = ("whole numbers", "numbers")
PLAIN = frozenset({"text", *NUMBERS, "true and false", "dates"})
"""The kinds of columns with one value in each row that is a text, a number, a flag or a time."""
GAPS = "missing"
"""The element of lists of numbers of which some are missing."""
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""A letter of a script without spaces between words: Thai to Khmer, Japanese and Chinese."""
_LETTERS_OF_A_WORD = 6


@dataclass(frozen=True)
class ColumnBlock:
    """`values` and `counts`: the distinct values that are not missing. Texts have the spaces around them.

    `numbers` [rows]: NaN where there is none, or an infinite one, which `infinite` counts.
    """

    kind: str
    rows: int
    missing: int
    values: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(0, object))
    counts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    numbers: npt.NDArray[np.float64] | None = None
    infinite: int = 0
    bad: Counter[str] = field(default_factory=Counter)
    """Texts that are no numbers, with their rows, if only a few differ."""
    bad_rows: int = 0
    leading_zeros: int = 0
    sampled: int = 0
    """The sampled rows, which have a value."""
    dates: Mapping[str | None, Seconds] = field(default_factory=dict)
    """The sampled rows that are dates, in their order, by the form of the dates."""
    undated: Mapping[str | None, Counter[str]] = field(default_factory=dict)
    """The texts that are no dates, with their rows, if only a few differ, by the form of the dates."""
    words: tuple[int, int, int] = (0, 0, 0)
    """Of the sampled distinct texts: their number, their words, and the most words of one."""
    plain: int = 0
    """Of the sampled distinct texts: those that are numbers."""
    with_signs: tuple[str, ...] = ()
    """Of the sampled distinct texts: the numbers with separators, or with the sign of a currency or of percent."""
    sizes: frozenset[int] = frozenset()
    """The sizes of lists; of the sampled distinct texts, how many numbers each has, 0 for one with other words."""
    is_enclosed: bool = False
    """True if the sampled distinct texts stand in brackets."""
    element: str = ""
    pictures: int = 0
    """Of the sampled distinct texts: paths of images."""
    unspaced: int = 0
    """Of the sampled distinct texts: those of several words in a script without spaces."""
    gaps: Counter[str] = field(default_factory=Counter)
    """Words and signs that count as missing among numbers and dates, and are values among texts, with their rows."""


def column_block(values: pa.Array, points: Points = "decimals") -> ColumnBlock:
    """The statistics of the values of one column. A dictionary is read as its values. `points`: see `numbers_of`."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    kind = kind_of(values.type)
    if kind == "text":
        return _of_text(values, points)
    if kind in (*NUMBERS, "true and false"):
        return _of_numbers(kind, values)
    if kind == "dates":
        return _of_dates(values)
    if kind == "lists":
        sizes = pc.list_value_length(values).drop_null().unique().to_pylist()
        element = kind_of(values.type.value_type)
        if element in NUMBERS and pc.list_flatten(values).null_count:
            element = GAPS
        return ColumnBlock(kind, len(values), values.null_count, sizes=frozenset(sizes[:2]), element=element)
    return ColumnBlock(kind, len(values), values.null_count)


def _of_numbers(kind: str, values: pa.Array) -> ColumnBlock:
    numbers = pc.cast(values, pa.uint8()) if kind == "true and false" else values
    floats = pc.cast(numbers, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    missing = int(np.count_nonzero(np.isnan(floats)))
    distinct, counts = np.unique(floats[~np.isnan(floats)], return_counts=True)
    return ColumnBlock(kind, len(values), missing, distinct, counts, *_finite(floats))


def _of_dates(values: pa.Array) -> ColumnBlock:
    times = read_times(values, None).drop_null()
    distinct, counts = np.unique(seconds_of(times), return_counts=True)
    sample = seconds_of(_sample(times))
    return ColumnBlock(
        "dates", len(values), values.null_count, distinct, counts, sampled=len(sample), dates={None: sample}
    )


def _of_text(values: pa.Array, points: Points) -> ColumnBlock:
    is_given = without_words(pc.utf8_trim_whitespace(values)).is_valid()
    given = values.filter(is_given)
    coded = pc.dictionary_encode(given)
    texts, plain = coded.dictionary, pc.utf8_trim_whitespace(coded.dictionary)
    counts = np.bincount(coded.indices.to_numpy(), minlength=len(texts)).astype(np.int64)
    parsed, unfit = numbers_of(texts, points)
    wrong = np.zeros(len(texts), np.bool_) if unfit is None else unfit
    bad_rows = int(counts[wrong].sum())
    bad, numbers, infinite = _few(texts, counts, wrong), None, 0
    if len(texts) and is_mostly_numbers(len(values), bad_rows, len(bad)):
        of_texts = parsed.to_numpy(zero_copy_only=False)
        numbers = np.full(len(values), np.nan)
        numbers[is_given.to_numpy(zero_copy_only=False)] = of_texts[coded.indices.to_numpy()]
        numbers, infinite = _finite(numbers)
    zeros = pc.fill_null(pc.match_substring_regex(plain, r"^[+-]?0\d"), False).to_numpy(zero_copy_only=False)
    sample = pc.utf8_trim_whitespace(_sample(given))
    dates = readings_of(sample) if bad_rows else {}
    likely = [form for form, found in dates.items() if len(found) > len(sample) / 2]
    some = plain[:_SAMPLE]
    listed = some.to_pylist()
    gaps = values.filter(pc.and_(values.is_valid(), pc.invert(is_given)))
    return ColumnBlock(
        kind="text",
        rows=len(values),
        missing=len(values) - len(given),
        values=texts.to_numpy(zero_copy_only=False),
        counts=counts,
        numbers=numbers,
        infinite=infinite,
        bad=bad,
        bad_rows=bad_rows,
        leading_zeros=int(counts[zeros].sum()),
        sampled=len(sample),
        dates=dates,
        undated={form: _few(texts, counts, are_no_dates(texts, form)) for form in likely},
        words=_words(listed),
        sizes=_sizes(some),
        is_enclosed=bool(pc.all(in_brackets(some)).as_py()),
        plain=int(np.count_nonzero(~wrong[:_SAMPLE])),
        with_signs=tuple(
            text for text, is_word in zip(listed, wrong, strict=False) if is_word and WITH_SIGNS.fullmatch(text)
        ),
        pictures=sum(text.lower().endswith(SUFFIXES) for text in listed),
        unspaced=sum(len(text) > _LETTERS_OF_A_WORD and bool(_UNSPACED.search(text)) for text in listed),
        gaps=Counter({str(one["values"]): one["counts"].as_py() for one in pc.value_counts(gaps)}),
    )


def _finite(numbers: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], int]:
    """The numbers, with NaN for the infinite ones, and how many these are."""
    infinite = np.isinf(numbers)
    return np.where(infinite, np.nan, numbers), int(np.count_nonzero(infinite))


def is_mostly_numbers(rows: int, bad_rows: int, words: int) -> bool:
    """True if at least half of the rows are no words, or if all words are the same one and other rows are not rare.

    `words`: the number of different words.
    """
    return bad_rows <= rows / 2 or (words == 1 and bad_rows <= _MOST_OF_ONE_WORD * rows)


def _few(texts: pa.Array, counts: npt.NDArray[np.int64], wrong: npt.NDArray[np.bool_]) -> Counter[str]:
    places = np.flatnonzero(wrong)[: MOST_WORDS + 1]
    return Counter({texts[place].as_py(): int(counts[place]) for place in places.tolist()})


def _sample(values: pa.Array) -> pa.Array:
    """At most `_SAMPLE` rows at equal distances."""
    return values.take(pa.array(np.linspace(0, len(values) - 1, min(len(values), _SAMPLE)).astype(np.int64)))


def _sizes(texts: pa.Array) -> frozenset[int]:
    """The numbers in each text; 0 if there are texts with other words."""
    plain = spelt_plainly(texts)
    words = pc.utf8_split_whitespace(plain.filter(pc.not_equal(plain, "")))
    _, unfit = numbers_of(words.flatten())
    return frozenset(pc.list_value_length(words).unique().to_pylist() if unfit is None else [0])


def _words(texts: list[str]) -> tuple[int, int, int]:
    found = [len(text.split()) for text in texts]
    return len(found), sum(found), max(found, default=0)
