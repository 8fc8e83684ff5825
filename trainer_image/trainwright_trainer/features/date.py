"""Date features: read as whole seconds, encoded as nine int32 each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.features.column import Cleaned, Encoded, Feature, Rounds, Statistics, missing_fact
from trainwright_trainer.features.errors import BadValueError, WrongTypeError, kind_of
from trainwright_trainer.features.missing import mask_of, settle
from trainwright_trainer.features.numerals import without_words
from trainwright_trainer.features.times import SECONDS, SLASHES, read_times, text_of, times_of

PARTS = ("year", "month", "day", "weekday", "yearday", "hour", "minute", "second", "second_of_day")
"""Month, day and yearday count from 1; weekday counts from 0, which is Monday."""

_UNREADABLE = (
    "holds {value} in row {row}, which is no date{expected}. "
    "Set preprocessing.datetime_format, or use missing_value_strategy drop_row. (Row 1 is the first row of data.)"
)
_MONTH_FIRST = "dates that are read as month/day/year (preprocessing.datetime_format names another form)"
_YEARS = " of the years 1 to 9999"
_FIRST, _LAST = (pa.scalar(time, SECONDS) for time in (datetime.min, datetime.max.replace(microsecond=0)))
_EPOCH = 0


def refuse(feature: Feature) -> None:
    feature.refuse_set("computed_fill_value")


def clean(feature: Feature, values: pa.Array, first_row: int) -> Cleaned:
    """`pa.timestamp("s")`: the local time of each value, without its time zone."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    wanted = feature.preprocessing.datetime_format
    times = _of_pythons_years(read_times(values, wanted))
    is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    given = without_words(pc.utf8_trim_whitespace(values)) if is_text else values
    if pa.types.is_float64(values.type):
        given = pc.if_else(pc.is_nan(values), None, values)
    unfit = pc.and_(times.is_null(), given.is_valid()).to_numpy(zero_copy_only=False)
    if unfit.any() and feature.strategy != "drop_row":
        row = int(np.argmax(unfit))
        if kind_of(values.type) == "dates":
            raise BadValueError(first_row + row, text_of(values, row), _UNREADABLE.replace("{expected}", _YEARS))
        value = values[row].as_py()
        raise BadValueError(first_row + row, value, _unreadable(wanted, value))
    noted = _months_first(given) if is_text and wanted is None else {}
    return Cleaned(times, int(np.count_nonzero(unfit)), noted)


def _of_pythons_years(times: pa.Array) -> pa.Array:
    """The times, with null for those that Python has no date for."""
    within = pc.and_(pc.greater_equal(times, _FIRST), pc.less_equal(times, _LAST))
    return times if pc.all(within).as_py() is not False else pc.if_else(within, times, None)


def _months_first(texts: pa.Array) -> dict[str, int]:
    found = pc.sum(pc.match_substring_regex(texts, SLASHES)).as_py()
    return {_MONTH_FIRST: found} if found else {}


def _unreadable(wanted: str | None, value: Any) -> str:
    expected = "" if wanted is None else f" of the form {wanted}".replace("{", "{{").replace("}", "}}")
    if wanted is None and re.match(SLASHES, str(value).strip()):
        expected = " of the form month/day/year"
    return _UNREADABLE.replace("{expected}", expected)


def rounds(feature: Feature) -> Rounds:  # noqa: ARG001
    return Rounds()


def observe(feature: Feature, values: pa.Array, so_far: Statistics) -> tuple[int, int, Any, Any]:  # noqa: ARG001
    extremes = pc.min_max(values)
    return len(values), values.null_count, extremes["min"].as_py(), extremes["max"].as_py()


def merge(feature: Feature, states: Sequence[Any]) -> tuple[int, int, Any, Any]:  # noqa: ARG001
    rows, missing = (sum(state[part] for state in states) for part in (0, 1))
    seen = [state for state in states if state[2] is not None]
    return rows, missing, min((state[2] for state in seen), default=None), max((s[3] for s in seen), default=None)


def conclude(feature: Feature, states: Sequence[Any], so_far: Statistics) -> dict[str, Any]:  # noqa: ARG001
    rows, missing, first, last = merge(feature, states)
    if first is None:
        raise WrongTypeError("has no date in any training row.")
    return {
        "type": "date",
        "rows": rows,
        "missing": missing,
        "min": first.isoformat(sep=" "),
        "max": last.isoformat(sep=" "),
        "fill": _fill(feature),
    }


def _fill(feature: Feature) -> int | None:
    """The fill value in seconds since 1970; the empty default means 1970-01-01. None without `fill_with_const`."""
    if feature.strategy != "fill_with_const":
        return None
    text = str(feature.preprocessing.fill_value)
    if not text:
        return _EPOCH
    found = times_of(pa.array([text]), feature.preprocessing.datetime_format)[0]
    if not found.is_valid:
        raise WrongTypeError(f"cannot be filled with {text!r}: preprocessing.fill_value is no date.")
    return int(found.value)


def notices(feature: Feature, statistics: Statistics) -> list[str]:  # noqa: ARG001
    return []


def encode(feature: Feature, values: pa.Array, statistics: Statistics, first_row: int) -> Encoded:  # noqa: ARG001
    missing = mask_of(values)
    fill = None if statistics["fill"] is None else vectors_of(pa.array([statistics["fill"]], pa.timestamp("s")))[0]
    return settle(vectors_of(values.fill_null(_EPOCH)), [(missing, feature.strategy, fill)])


def vectors_of(times: pa.Array) -> npt.NDArray[np.int32]:
    """int32 [rows, 9]: the `PARTS` of `times`, a `pa.timestamp("s")` array without nulls."""
    vectors = np.empty((len(times), len(PARTS)), dtype=np.int32)
    for part, function in enumerate((pc.year, pc.month, pc.day, pc.day_of_week, pc.day_of_year)):
        vectors[:, part] = function(times).to_numpy()
    of_day = pc.cast(times, pa.int64()).to_numpy() % 86_400
    vectors[:, 5], vectors[:, 6], vectors[:, 7] = of_day // 3600, of_day // 60 % 60, of_day % 60
    vectors[:, 8] = of_day
    return vectors


def facts(statistics: Statistics) -> dict[str, str]:
    return {"first": statistics["min"], "last": statistics["max"], **missing_fact(statistics)}


def distribution(statistics: Statistics) -> None:
    """None: the nine parts of a date do not have a single axis."""
