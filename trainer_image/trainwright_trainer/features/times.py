"""Convert text to local times. Time zones in the text are ignored."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.features.errors import WrongTypeError, kind_of

SECONDS = pa.timestamp("s")
_ZONE = r"(?i)(:\d{2}(?:\.\d+)?)\s*(?:z|utc|[+-]\d{2}(?::?\d{2})?)$"
_FRACTION = r"(:\d{2})[.,]\d+$"
_OTHER_FORMS = (
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d",
    "%Y%m%d",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
)
"""The forms that are read without a datetime_format, in addition to ISO 8601. None of them is ambiguous."""


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

    Whole numbers are read with the form `wanted` only. Raises `WrongTypeError` for types that hold no dates.
    """
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    kind = values.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_null(kind):
        return wall_clock(values)
    if pa.types.is_integer(kind) and wanted is not None:
        values = pc.cast(values, pa.string())
    elif not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise WrongTypeError(f"holds {kind_of(kind)}, which are no dates.")
    return times_of(values, wanted)


def times_of(texts: pa.Array, wanted: str | None) -> pa.Array:
    """`pa.timestamp("s")`; null if the text is missing or not of the form `wanted` (None: the usual forms)."""
    coded = texts.dictionary_encode()
    distinct = coded.dictionary
    times = _of_form(distinct, wanted) if wanted is not None else _usual(distinct)
    return pc.take(times, coded.indices)


def _usual(texts: pa.Array) -> pa.Array:
    plain = pc.replace_substring_regex(pc.utf8_trim_whitespace(texts), _ZONE, r"\1")
    plain = pc.replace_substring_regex(plain, _FRACTION, r"\1")
    try:
        return pc.cast(plain, SECONDS)
    except pa.ArrowInvalid:
        return pa.array([_first_reading(text) for text in plain.to_pylist()], SECONDS)


def _first_reading(text: str | None) -> int | None:
    if text is None:
        return None
    for form in _OTHER_FORMS:
        found = _reading(text, form)
        if found is not None:
            return found
    try:
        return _seconds(datetime.fromisoformat(text))
    except ValueError:
        return None


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
