"""Convert text to local times. Time zones in the text are ignored."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.features.errors import WrongTypeError, kind_of
from trainwright_trainer.features.numerals import without_words
from trainwright_trainer.features.texts import dictionary_of

SECONDS = pa.timestamp("s")
SLASHES = r"^\d\d?/\d\d?/\d{4}\b"
"""Dates with slashes and the year at the end. They are read as month/day/year, as Ludwig reads them."""
_DECIMALS = r"[^0-9-]"
"""What a number that is not whole has in its text."""
_ZONE = r"(?i)(:\d{2}(?:\.\d+)?)\s*(?:z|utc|gmt|[+-]\d{2}(?::?\d{2})?)$"
_FRACTION = r"(:\d{2})[.,]\d+$"
_ISO = r"^\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2})?)?$"
_DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%m/%d/%Y", "%d.%m.%Y", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%b %d, %Y", "%B %d, %Y")
CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_FORMS = (
    *(f"{day}{clock}" for day in _DAYS for clock in CLOCKS),
    *("%a, %d %b %Y %H:%M:%S", "%a %b %d %H:%M:%S %Y"),
    *("%Y%m%d", "%Y%m%d%H%M%S"),
)
"""The forms that are read without a datetime_format, in addition to ISO 8601 and seconds since 1970."""
_PARTS = {
    "%Y": r"\d{4}",
    "%y": r"\d\d",
    "%m": r"\d\d?",
    "%d": r"\d\d?",
    "%H": r"\d\d?",
    "%I": r"\d\d?",
    "%M": r"\d\d",
    "%S": r"\d\d",
    "%b": "[A-Za-z]{3}",
    "%B": "[A-Za-z]{3,}",
    "%a": "[A-Za-z]{3}",
    "%p": "[AaPp][Mm]",
}


def wall_clock(values: pa.Array) -> pa.Array:
    """Dates and timestamps of any unit as `pa.timestamp("s")`, rounded down, in the local time of their zone."""
    if pa.types.is_null(values.type):
        return pc.cast(values, SECONDS)
    if pa.types.is_timestamp(values.type) and values.type.tz is not None:
        values = pc.local_timestamp(values)
    if pa.types.is_timestamp(values.type):
        values = pc.floor_temporal(values, unit="second")
    return pc.cast(values, SECONDS)


def read_times(values: pa.Array, wanted: str | None) -> pa.Array:
    """A column of any type as `pa.timestamp("s")`, in local time; null where a value is missing or no date.

    Whole numbers are read as their digits, also where their type is a float of 64 bits: Excel has no other numbers, and
    a gap makes floats of them. Raises `WrongTypeError` for other numbers and for types that hold no dates.
    """
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    kind = values.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_null(kind):
        return wall_clock(values)
    if pa.types.is_integer(kind):
        values = pc.cast(values, pa.string())
    elif pa.types.is_float64(kind) or pa.types.is_decimal(kind):
        coded = dictionary_of(values)
        if pc.any(pc.match_substring_regex(coded.dictionary, _DECIMALS)).as_py():
            raise WrongTypeError(f"holds {kind_of(kind)}, which are no dates.")
        values = coded.dictionary_decode()
    elif not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise WrongTypeError(f"holds {kind_of(kind)}, which are no dates.")
    return times_of(values, wanted)


def text_of(values: pa.Array, row: int) -> str | None:
    """The value as text. Python's own dates end with the year 9999, and Arrow's do not."""
    text: str | None = pc.cast(values.slice(row, 1), pa.string())[0].as_py()
    return text


def times_of(texts: pa.Array, wanted: str | None) -> pa.Array:
    """`pa.timestamp("s")`; null if the text is missing or not of the form `wanted` (None: the usual forms)."""
    coded = texts.dictionary_encode()
    distinct = without_words(pc.utf8_trim_whitespace(coded.dictionary))
    times = _of_form(distinct, wanted) if wanted is not None else _usual(distinct)
    return pc.take(times, coded.indices)


def _usual(texts: pa.Array) -> pa.Array:
    plain = pc.replace_substring_regex(texts, _ZONE, r"\1")
    plain = pc.replace_substring_regex(plain, _FRACTION, r"\1")
    try:
        return pc.cast(plain, SECONDS)
    except pa.ArrowInvalid:
        return _of_any_form(plain)


def _of_any_form(texts: pa.Array) -> pa.Array:
    """Each text by the first reading whose pattern it matches."""
    times = np.full(len(texts), None, dtype=object)
    left = texts.is_valid().to_numpy(zero_copy_only=False)
    for pattern, read in _READINGS:
        rows = np.flatnonzero(left & pc.fill_null(pc.match_substring_regex(texts, pattern), False).to_numpy(False))
        if len(rows):
            found = pc.cast(read(texts.take(pa.array(rows))), pa.int64())
            times[rows] = found.to_pylist()
            left[rows[found.is_valid().to_numpy(zero_copy_only=False)]] = False
    return pa.array(times.tolist(), SECONDS)


def pattern_of(form: str) -> str:
    """The regular expression of the texts of a form. In a form without separators, every part has its full length."""
    escaped = re.sub(r"%[A-Za-z]", lambda part: _PARTS[part[0]], form.replace(".", r"\."))
    return f"^{escaped if re.search(r'[^%A-Za-z]', form) else escaped.replace(r'd?', 'd')}$"


def _iso(texts: pa.Array) -> pa.Array:
    try:
        return pc.cast(texts, SECONDS)
    except pa.ArrowInvalid:
        return pa.array([_from_iso(text) for text in texts.to_pylist()], SECONDS)


def _from_iso(text: str) -> int | None:
    try:
        return _seconds(datetime.fromisoformat(text))
    except ValueError:
        return None


def _by(form: str) -> Callable[[pa.Array], pa.Array]:
    return lambda texts: _of_form(texts, form)


def _since_1970(texts: pa.Array) -> pa.Array:
    return pc.cast(pc.cast(texts, pa.int64()), SECONDS)


def _milliseconds_since_1970(texts: pa.Array) -> pa.Array:
    return pc.cast(pc.divide(pc.cast(texts, pa.int64()), 1000), SECONDS)


_READINGS = (
    (_ISO, _iso),
    *((pattern_of(form), _by(form)) for form in _FORMS),
    (r"^\d{10}$", _since_1970),
    (r"^\d{13}$", _milliseconds_since_1970),
    (r"^\d{4}", lambda texts: pa.array([_from_iso(text) for text in texts.to_pylist()], SECONDS)),
)
"""Patterns, and the functions that read the texts that match. A text that one cannot read is left to the next."""


def _of_form(texts: pa.Array, form: str) -> pa.Array:
    """Arrow parses most texts. Python's strptime parses those that Arrow cannot read and format back unchanged."""
    try:
        times = pc.strptime(texts, format=form, unit="s", error_is_null=True)
        again = pc.strftime(times, format=form)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array([_reading(text, form) for text in texts.to_pylist()], SECONDS)
    same = pc.fill_null(pc.equal(again, texts), False).to_numpy(zero_copy_only=False)
    found = pc.cast(times, pa.int64()).to_pylist()
    for row in np.flatnonzero(~same).tolist():
        found[row] = _reading(texts[row].as_py(), form)
    return pa.array(found, SECONDS)


def _reading(text: str | None, form: str) -> int | None:
    if text is None:
        return None
    try:
        return _seconds(datetime.strptime(text.strip(), form))
    except ValueError:
        return None


def _seconds(time: datetime) -> int:
    """Seconds since 1970 of the local time, without its zone, rounded down."""
    return int(time.replace(tzinfo=UTC, microsecond=0).timestamp())
