"""The type of a column, from its statistics, or the reason why it is no input. docs/init.md has the table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from trainwright_trainer.suggest.block import GAPS, MOST_WORDS, NUMBERS, PLAIN
from trainwright_trainer.suggest.distinct import MOST_VALUES
from trainwright_trainer.suggest.profile import MOST_BAD, ColumnProfile
from trainwright_trainer.suggest.shown import share, short

Type = Literal["number", "binary", "category", "date", "vector", "set", "text"]
ALL_DIFFERENT = 0.95
"""A column is taken for an id if this share of its values differ. The sketch of distinct values errs by 1.6 %."""
_FEWEST_OF_ID = 20
MOST_DROPPED = 0.05
"""The largest share of rows that an input may drop because they hold nothing of its type."""
_FEWEST_OF_VECTOR = 3
_TEXT_WORDS = 3
"""Texts with so many words on average are read word by word."""
_MOST_CLASSES = 10
"""Whole numbers with at most so many values are classes of a target."""
_GROUP_SHARE = 0.02
_WORD = re.compile(r"(?:^|[_\s.-])(?:id|uuid|guid|key)$", re.IGNORECASE)
_CAMEL = re.compile(r"[a-z](?:Id|ID|Uuid|UUID|Key)$")


@dataclass(frozen=True)
class TypeChoice:
    """`type` is None if the column is left out; `reason` says why, or what the type follows from.

    `is_group`: an id with several rows each, which should stay in one part of the split.
    """

    type: Type | None
    reason: str
    is_group: bool = False


def input_choice(column: ColumnProfile) -> TypeChoice:
    """The choice for an input."""
    if not column.name.strip():
        return TypeChoice(None, "no name")
    if column.given == 0:
        return TypeChoice(None, "no value")
    if column.relation.found:
        return TypeChoice(None, column.relation.found)
    if not _is_plain(column):
        return _nested(column)
    distinct = column.distinct.number
    if distinct == 1:
        return TypeChoice(None, "one value" if not column.missing else "one value, or none")
    if column.kinds == {"true and false"} and not column.missing:
        return TypeChoice("binary", "true and false")
    if found := _with_signs(column) or _with_words(column) or _vector(column) or _id(column):
        return found
    if distinct == 2 and not column.missing:
        return TypeChoice("binary", "two values")
    if column.is_number and not _is_code(column):
        return _of_numbers(column)
    if column.is_date:
        return _of_dates(column)
    return _of_words(column)


def _of_numbers(column: ColumnProfile) -> TypeChoice:
    """Infinite numbers need the strategy drop_row, which drops the rows without a number too."""
    dropped = column.infinite + column.missing + column.bad_rows
    if column.infinite and dropped > MOST_DROPPED * column.rows:
        found = share(column.infinite / column.rows)
        return TypeChoice(None, f"numbers, infinite in {found} of the rows: let these have none")
    return TypeChoice("number", "numbers")


def _of_dates(column: ColumnProfile) -> TypeChoice:
    if len(column.dates.words) > MOST_BAD:
        return _too_many_words(column, "date")
    return TypeChoice("date", _form_of_dates(column.dates.forms))


def _form_of_dates(forms: Sequence[str | None]) -> str:
    read, *others = ("month/day/year" if form is None else form for form in forms)
    if others:
        return f"dates with the day or the month first: read as {read}; {' or '.join(others)} fits as well"
    return "dates" if forms[0] is None else f"dates of the form {read}"


def _vector(column: ColumnProfile) -> TypeChoice | None:
    """The choice for texts of as many numbers each. Few of them are classes, and two without brackets may be a code."""
    size, fewest = max(column.sizes, default=0), 2 if column.is_enclosed else _FEWEST_OF_VECTOR
    if len(column.sizes) != 1 or size < fewest or column.distinct.number <= _FEWEST_OF_ID:
        return None
    return TypeChoice("vector", f"texts of {size} numbers")


def target_choice(column: ColumnProfile) -> TypeChoice:
    """The choice for the target. `type` is None if it cannot be one."""
    if column.given == 0:
        return TypeChoice(None, "it has no value")
    if not _is_plain(column):
        found = _nested(column)
        return found if found.type in ("vector", "set") else TypeChoice(None, f"it holds {found.reason}")
    distinct = column.distinct.number
    if distinct == 1:
        return TypeChoice(None, "it has one value")
    if distinct == 2 or column.kinds == {"true and false"}:
        return TypeChoice("binary", "two values")
    repeats = distinct < ALL_DIFFERENT * column.given
    if column.is_number and not _is_code(column):
        if column.is_whole and distinct <= _MOST_CLASSES and repeats:
            return TypeChoice(
                "category", f"{distinct} whole numbers, read as classes; type: number predicts a quantity"
            )
        return TypeChoice("number", "numbers")
    if signs := _with_signs(column):
        return TypeChoice(None, f"it has {signs.reason}")
    if vector := _vector(column):
        return vector
    if distinct > MOST_VALUES:
        return TypeChoice(None, f"it has about {distinct:,} different values, too many for classes")
    if not repeats:
        return TypeChoice(None, f"it has {distinct:,} different values in {column.given:,} rows, too many for classes")
    return TypeChoice("category", f"{distinct:,} classes")


def _is_plain(column: ColumnProfile) -> bool:
    return len(column.kinds) == 1 and column.kinds <= PLAIN


def _nested(column: ColumnProfile) -> TypeChoice:
    if column.kinds == {"bytes"}:
        return TypeChoice(None, "bytes that are no text; if they are images, type: image reads them")
    if len(column.kinds) != 1:
        return TypeChoice(None, f"values of several kinds ({', '.join(sorted(column.kinds))})")
    if column.kinds != {"lists"}:
        return TypeChoice(None, f"values of the kind {next(iter(column.kinds))}, which no type of feature reads")
    if column.element == GAPS:
        return TypeChoice(None, "lists with missing numbers")
    if column.element == "text":
        return TypeChoice("set", "lists of texts")
    if column.element in NUMBERS and len(column.sizes) == 1:
        return TypeChoice("vector", f"lists of {next(iter(column.sizes))} numbers")
    several = column.element in NUMBERS
    return TypeChoice(None, "lists of several sizes" if several else f"lists of {column.element or 'nothing'}")


def _with_signs(column: ColumnProfile) -> TypeChoice | None:
    """The choice for a column of numbers that cannot be read as numbers. Few of them are classes."""
    if not column.has_signs or column.distinct.number <= _FEWEST_OF_ID:
        return None
    example = column.sign_example or column.thousands
    return TypeChoice(None, f"numbers with signs or separators ({example!r}): write them without, as in 1234.5")


def _with_words(column: ColumnProfile) -> TypeChoice | None:
    """The choice for many different numbers with more words than can count as missing."""
    is_rare = column.distinct.number > column.given / 2
    if column.is_number or column.is_date or not column.has_many_numbers or not is_rare:
        return None
    if len(column.bad) > MOST_WORDS:
        return None
    return _too_many_words(column, "number")


def _too_many_words(column: ColumnProfile, type_: Type) -> TypeChoice:
    found = share_of_words(column, TypeChoice(type_, ""))
    return TypeChoice(None, f"{found}: datasetOptions.naValues makes such words missing")


def words_of(column: ColumnProfile, choice: TypeChoice) -> Counter[str]:
    """The words in a column of numbers or dates, with their rows."""
    if choice.type == "number":
        return column.bad
    return column.dates.words if choice.type == "date" else Counter()


def share_of_words(column: ColumnProfile, choice: TypeChoice) -> str:
    """`numbers, and 'unknown' in 11 % of the rows`, of a column of numbers or dates, and words."""
    found = words_of(column, choice)
    words = ", ".join(repr(short(word)) for word in list(found)[:MOST_BAD])
    more = ", …" if len(found) > MOST_BAD else ""
    least = "at least " if len(found) > MOST_WORDS else ""
    return f"{choice.type}s, and {words}{more} in {least}{share(sum(found.values()) / column.rows)} of the rows"


def _id(column: ColumnProfile) -> TypeChoice | None:
    """The choice for a column that only names rows or groups of rows."""
    distinct, named = column.distinct.number, is_named_as_id(column.name)
    is_whole = column.is_number and column.is_whole
    if column.given >= _FEWEST_OF_ID and distinct >= ALL_DIFFERENT * column.given:
        is_word = "text" in column.kinds and not column.is_number and not column.is_date
        is_word = is_word and column.mean_words < _TEXT_WORDS
        counts = is_whole and column.most - column.least < 2 * column.given  # 1, 2, 3, …
        if is_word and (reason := _contents(column)):
            return TypeChoice(None, reason)
        if is_word or (is_whole and (named or counts)):
            return TypeChoice(None, "a different value in every row: an id")
    if not named or not (is_whole or "text" in column.kinds):
        return None
    if distinct > max(_FEWEST_OF_ID, _GROUP_SHARE * column.rows):
        each = column.given / distinct
        return TypeChoice(None, f"an id with {each:.1f} rows each", is_group=True)
    return TypeChoice("category", f"an id with {distinct:,} values")


def _contents(column: ColumnProfile) -> str:
    """What texts that are no ids hold, and how to read it; "" for others."""
    if column.pictures > column.texts / 2:
        return "paths of images: type: image reads them"
    if column.unspaced > column.texts / 2:
        return "texts without spaces: type: text with preprocessing: {tokenizer: characters} reads them"
    return ""


def is_named_as_id(name: str) -> bool:
    """True for names such as id, customer_id, userId and order-key, and false for paid and monkey."""
    return bool(_WORD.search(name) or _CAMEL.search(name))


def _is_code(column: ColumnProfile) -> bool:
    """True for digits that are no quantity, as in post codes: some begin with a zero."""
    return column.is_whole and column.leading_zeros > 0


def _of_words(column: ColumnProfile) -> TypeChoice:
    distinct = column.distinct.number
    if column.mean_words >= _TEXT_WORDS and (distinct > MOST_VALUES or distinct > column.given / 2):
        return TypeChoice("text", f"texts of {column.mean_words:.0f} words on average")
    if distinct <= MOST_VALUES or distinct <= column.given / 2:
        return TypeChoice("category", f"{distinct:,} values")
    if column.mean_words >= 2:
        return TypeChoice("text", f"texts of {column.mean_words:.0f} words on average")
    return TypeChoice(None, f"{distinct:,} values in {column.given:,} rows, too few rows of each")
