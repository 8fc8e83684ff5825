"""The statistics of all columns of a table, from one pass over all rows. The state of a column is bounded."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa

from trainwright_api.problems import Mistakes
from trainwright_trainer.data.agreement import Wanted
from trainwright_trainer.data.datasets import DataFiles, DataTable
from trainwright_trainer.data.rows import IMAGE_BLOCK_ROWS, Block
from trainwright_trainer.features.column import Points
from trainwright_trainer.features.errors import WrongTypeError, kind_of
from trainwright_trainer.features.numerals import WITH_SIGNS
from trainwright_trainer.features.texts import without_bytes
from trainwright_trainer.frames.pandas import in_threads
from trainwright_trainer.suggest.block import GAPS, ColumnBlock, column_block, is_mostly_numbers
from trainwright_trainer.suggest.dates import Dates
from trainwright_trainer.suggest.distinct import Distinct
from trainwright_trainer.suggest.relation import Relation, RelationBlock, relation_block, target_block

TARGET = "--target"
"""The path, in messages, of the column to predict."""
MOST_BAD = 5
"""A column of numbers may hold so many different words beside them."""
FEWEST_NUMBERS = 20
"""With more different numbers than these, a column with words in many rows has numbers, and not classes."""
_THOUSANDS = re.compile(r"\d[.,'\s]\d{3}(?!\d)")
_UNRELATED = ("lists", "empty", "bytes")
"""The kinds of columns whose relation to the target is not computed."""


@dataclass
class ColumnProfile:
    """One column. The fields are the sums of those of `ColumnBlock`, over all blocks."""

    name: str
    kinds: set[str] = field(default_factory=set)
    rows: int = 0
    missing: int = 0
    distinct: Distinct = field(default_factory=Distinct)
    least: float = math.inf
    most: float = -math.inf
    infinite: int = 0
    is_whole: bool = True
    bad: Counter[str] = field(default_factory=Counter)
    bad_rows: int = 0
    leading_zeros: int = 0
    dates: Dates = field(default_factory=Dates)
    texts: int = 0
    words: int = 0
    most_words: int = 0
    plain: int = 0
    with_signs: int = 0
    sign_example: str = ""
    sizes: set[int] = field(default_factory=set)
    is_enclosed: bool = True
    element: str = ""
    pictures: int = 0
    unspaced: int = 0
    gaps: Counter[str] = field(default_factory=Counter)
    relation: Relation = field(default_factory=Relation)

    def add(self, block: ColumnBlock, relation: RelationBlock | None) -> None:
        self.kinds |= {block.kind} - {"empty"}
        self.rows, self.missing = self.rows + block.rows, self.missing + block.missing
        if len(block.values):
            self.distinct.add(block.values, block.counts)
        if block.numbers is not None:
            self._add_numbers(block.numbers[~np.isnan(block.numbers)])
        self.infinite += block.infinite
        self.bad.update(block.bad)
        self.bad_rows += block.bad_rows
        self.leading_zeros += block.leading_zeros
        self.dates.add(block.sampled, block.dates, block.undated)
        texts, words, most = block.words
        self.texts, self.words, self.most_words = self.texts + texts, self.words + words, max(self.most_words, most)
        self.plain, self.with_signs = self.plain + block.plain, self.with_signs + len(block.with_signs)
        self.sign_example = self.sign_example or max(block.with_signs, key=len, default="")
        self.sizes |= block.sizes
        self.is_enclosed &= block.is_enclosed or not len(block.values)
        self.element = self.element if self.element == GAPS else block.element or self.element
        self.pictures, self.unspaced = self.pictures + block.pictures, self.unspaced + block.unspaced
        self.gaps.update(block.gaps)
        if relation is not None:
            self.relation.add(relation)

    def settle(self) -> None:
        """After the last block: words and signs for missing values are values among other texts."""
        if self.gaps and self.given and not (self.is_number or self.is_date):
            counts = np.array(list(self.gaps.values()), np.int64)
            self.distinct.add(np.array(list(self.gaps), object), counts)
            self.bad.update(self.gaps)
            self.bad_rows += int(counts.sum())
            self.missing -= int(counts.sum())
        self.gaps.clear()

    def _add_numbers(self, numbers: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
        if len(numbers):
            self.least, self.most = min(self.least, float(numbers.min())), max(self.most, float(numbers.max()))
            self.is_whole = self.is_whole and bool((numbers == np.floor(numbers)).all())

    @property
    def given(self) -> int:
        """The rows with a value."""
        return self.rows - self.missing

    @property
    def is_number(self) -> bool:
        """True if the values are numbers, and a few different words in a few rows or between many different numbers."""
        if "text" not in self.kinds:
            return bool(self.kinds) and self.kinds <= {"whole numbers", "numbers"}
        if not self.given or len(self.bad) > MOST_BAD or self.thousands:
            return False
        return self.bad_rows <= 0.05 * self.given or self.has_many_numbers

    @property
    def thousands(self) -> str:
        """A number with separators of thousands, if the few words beside numbers have one: the large ones do."""
        return next((word for word in self.bad if WITH_SIGNS.fullmatch(word) and _THOUSANDS.search(word)), "")

    @property
    def has_many_numbers(self) -> bool:
        """True if many different values are numbers, and not too many rows are words."""
        numbers = self.distinct.number - len(self.bad)
        return numbers > FEWEST_NUMBERS and is_mostly_numbers(self.given, self.bad_rows, len(self.bad))

    @property
    def has_signs(self) -> bool:
        """True if nearly all texts are numbers, but some only without their signs and separators."""
        is_most = self.with_signs + self.plain >= 0.95 * self.texts
        return not self.is_number and (self.with_signs > 0 or bool(self.thousands)) and is_most

    @property
    def is_date(self) -> bool:
        return bool(self.dates.forms)

    @property
    def is_sorted_by_time(self) -> bool:
        return self.dates.are_sorted and self.distinct.number > 2

    @property
    def mean_words(self) -> float:
        return self.words / self.texts if self.texts else 0.0


@dataclass(frozen=True)
class TableProfile:
    name: str
    rows: int
    columns: Mapping[str, ColumnProfile]
    target: str

    @property
    def inputs(self) -> Iterator[ColumnProfile]:
        return (column for name, column in self.columns.items() if name != self.target)


def profile_of(data: DataFiles | DataTable, target: str) -> TableProfile:
    """Read all rows of a table. Raises `Mistakes` if it has no such target or no rows, and `EnvironmentFailure`."""
    names = list(dict.fromkeys([*data.columns(), target]))
    wanted = [(TARGET if name == target else "dataset", name) for name in names]
    source = data.source(wanted, [], _block_rows(data, wanted))
    columns, rows = {name: ColumnProfile(name) for name in names}, 0
    for found in in_threads(partial(_profiled, target, data.points()), source.blocks(), pa.cpu_count()):
        for name, (block, relation) in found.items():
            columns[name].add(block, relation)
        rows += found[target][0].rows
    for column in columns.values():
        column.settle()
    if not rows:
        raise Mistakes.one("dataset", f"{data.name!r} holds no rows.")
    return TableProfile(data.name, rows, columns, target)


def _block_rows(data: DataFiles | DataTable, wanted: Wanted) -> int | None:
    """The rows of a block: few if the first block has a column of bytes, which may be images."""
    if not data.may_have_bytes:  # such a file may have to be read as a whole for its first block
        return None
    first = next(data.source(wanted, [], IMAGE_BLOCK_ROWS).blocks(), None)
    columns = () if first is None else first.columns.values()
    return IMAGE_BLOCK_ROWS if any(kind_of(column.type) == "bytes" for column in columns) else None


def _readable(name: str, values: pa.Array) -> pa.Array:
    """The column with its bytes as text, unless they are none. Raises `Mistakes` for text that is not UTF-8."""
    try:
        return without_bytes(values)
    except WrongTypeError as error:
        if kind_of(values.type) == "text":
            raise Mistakes.one("dataset", f"column {name!r} {error}") from error
        return values


def _profiled(
    target: str, points: Mapping[str, Points], block: Block
) -> Mapping[str, tuple[ColumnBlock, RelationBlock | None]]:
    columns = {name: _readable(name, values) for name, values in block.columns.items()}
    own = column_block(columns[target], points.get(target, "decimals"))
    known = target_block(columns[target], own.numbers) if own.kind not in _UNRELATED else None
    found: dict[str, tuple[ColumnBlock, RelationBlock | None]] = {target: (own, None)}
    for name, values in columns.items():
        if name == target:
            continue
        statistics = column_block(values, points.get(name, "decimals"))
        has_values = known is not None and statistics.kind not in _UNRELATED
        relation = relation_block(known, values, statistics.numbers) if known is not None and has_values else None
        found[name] = (statistics, relation)
    return found
