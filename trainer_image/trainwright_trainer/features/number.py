"""Number features: read as float32 or float64, scaled by statistics of the training rows, encoded as float32."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.features import moments
from trainwright_trainer.features.column import (
    Cleaned,
    Encoded,
    Feature,
    Mask,
    Points,
    Rounds,
    Statistics,
    missing_fact,
)
from trainwright_trainer.features.distribution import Histogram
from trainwright_trainer.features.errors import BadValueError, WrongTypeError, kind_of
from trainwright_trainer.features.missing import mask_of, rows_of, settle
from trainwright_trainer.features.moments import Moments
from trainwright_trainer.features.number_statistics import (
    Second,
    coarse_step,
    described,
    encoded_moments,
    merged,
    needs_quartiles,
)
from trainwright_trainer.features.numerals import THOUSANDS, WITH_SIGNS, numbers_of

Floats = npt.NDArray[np.float64]

_TEXT = (
    "is text from row {row} on ({value}), the feature is a number. If the text stands for a missing value, add it to "
    "datasetOptions.naValues; else use type category, or missing_value_strategy drop_row. "
    "(Row 1 is the first row of data.)"
)
_COMMA = re.compile(r"\s*[+-]?\d+(,\d+)+\s*")
_COMMA_TEXT = (
    "has a number with a comma in row {row} ({value}). If the comma stands before decimals, read the CSV file with "
    'datasetOptions: {{decimal: ","}}; if it separates thousands, write none. (Row 1 is the first row of data.)'
)
_SIGNS_TEXT = (
    "has a number with a sign or a separator in row {row} ({value}), which is not read: write numbers as in -1234.5. "
    "(Row 1 is the first row of data.)"
)
_THOUSANDS_TEXT = (
    "has a point before three digits in row {row} ({value}), which separates thousands here: write none, as in 1007. "
    "(Row 1 is the first row of data.)"
)
_INFINITE = "is infinite from row {row} on ({value}). Mend it, or use missing_value_strategy drop_row."
_LOG = "holds {value} in row {row}, and log1p needs values above -1. Use another normalization."
_LARGE = "holds {value} in row {row}, too large for a 32-bit float. Use normalization zscore, or scale the column."


def refuse(feature: Feature) -> None:
    feature.refuse_set("computed_fill_value")
    feature.refuse_set("computed_outlier_fill_value")


def clean(feature: Feature, values: pa.Array, first_row: int) -> Cleaned:
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    numbers, unfit = _numbers(values, feature.points)
    if unfit is None and not numbers.null_count and np.isfinite(rows_of(numbers)).all():
        return Cleaned(numbers)
    infinite = _infinite(numbers)
    unreadable = 0
    for bad, message in ((unfit, _TEXT), (infinite, _INFINITE)):
        if bad is None:
            continue
        if feature.strategy != "drop_row":
            row = int(np.argmax(bad))
            value = values[row].as_py()
            raise BadValueError(first_row + row, value, _of_signs(value) or message)
        if feature.is_target and bad is unfit:
            _refuse_signs(values, bad, first_row)
        unreadable += int(np.count_nonzero(bad))
    if infinite is not None:
        numbers = pc.if_else(pa.array(infinite), None, numbers)
    return Cleaned(_nan_is_null(numbers), unreadable)


def _refuse_signs(values: pa.Array, unfit: Mask, first_row: int) -> None:
    """Raise `BadValueError` for a target's number with signs or separators: without its row, large numbers are rare."""
    for row in np.flatnonzero(unfit).tolist():
        value = values[row].as_py()
        if found := _of_signs(value):
            raise BadValueError(first_row + row, value, found)


def _of_signs(value: Any) -> str | None:
    """The message about a text that people read as a number."""
    if not isinstance(value, str):
        return None
    if re.match(THOUSANDS, value):
        return _THOUSANDS_TEXT
    if _COMMA.fullmatch(value):
        return _COMMA_TEXT
    return _SIGNS_TEXT if WITH_SIGNS.fullmatch(value) else None


def _numbers(values: pa.Array, points: Points) -> tuple[pa.Array, Mask | None]:
    kind = values.type
    if pa.types.is_float32(kind) or pa.types.is_float64(kind):
        return values, None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return numbers_of(values, points)
    if any(test(kind) for test in (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)):
        return pc.cast(values, pa.float64(), safe=False), None
    if pa.types.is_boolean(kind):
        return pc.cast(pc.cast(values, pa.uint8()), pa.float64()), None
    raise WrongTypeError(f"holds {kind_of(kind)}, the feature is a number.")


def _infinite(numbers: pa.Array) -> Mask | None:
    infinite = pc.is_inf(numbers)
    if not pc.any(infinite).as_py():
        return None
    mask: Mask = pc.fill_null(infinite, False).to_numpy(zero_copy_only=False)
    return mask


def _nan_is_null(numbers: pa.Array) -> pa.Array:
    nan = pc.is_nan(numbers)
    return pc.if_else(nan, None, numbers) if pc.any(nan).as_py() else numbers


def rounds(feature: Feature) -> Rounds:
    """The histogram needs the range first, and the range without outliers needs the outliers' bounds first."""
    return Rounds(before=1 if feature.preprocessing.outlier_strategy is None else 2, beside=1)


def observe(feature: Feature, values: pa.Array, so_far: Statistics) -> Moments | Second:
    numbers = values.drop_null().to_numpy().astype(np.float64)
    if "outliers" in so_far:
        numbers = numbers[~_outside(numbers, so_far)]
    if "shift" in so_far:
        return Second(moments.histogram(numbers, so_far["min"], so_far["max"]), _logs(feature, numbers))
    return moments.observe(numbers, len(values), values.null_count, needs_quartiles(feature), _counts(feature))


def _logs(feature: Feature, numbers: Floats) -> Moments | None:
    if not feature.is_target or feature.preprocessing.normalization != "log1p":
        return None
    return moments.observe(np.log1p(numbers), len(numbers), 0, keep=False, count=False)


def _counts(feature: Feature) -> bool:
    return "fill_with_mode" in (feature.strategy, feature.preprocessing.outlier_strategy)


def _outside(numbers: Floats, statistics: Statistics) -> Mask:
    low, high = statistics["outliers"]["low"], statistics["outliers"]["high"]
    outside: Mask = (numbers < low) | (numbers > high)
    return outside


def merge(feature: Feature, states: Sequence[Any]) -> Moments | Second:  # noqa: ARG001
    return merged(states)


def conclude(feature: Feature, states: Sequence[Any], so_far: Statistics) -> dict[str, Any]:
    state = merged(states)
    if isinstance(state, Second):
        edges = moments.edges(so_far["min"], so_far["max"])
        found = {**so_far, "histogram": {"edges": edges.tolist(), "counts": state.counts.tolist()}}
        return {**found, "encoded": encoded_moments(state.logs, so_far)} if feature.is_target else found
    if not state.count:
        raise WrongTypeError("has no number in any training row.")
    if not np.isfinite(state.m2):
        raise WrongTypeError(
            f"holds numbers up to {max(-state.minimum, state.maximum):g}: too large. Scale the column."
        )
    if feature.preprocessing.outlier_strategy is not None and not so_far:
        reach = feature.preprocessing.outlier_threshold * state.std
        return {"outliers": {"low": state.mean - reach, "high": state.mean + reach, "inside": state.count}}
    return described(feature, state, so_far)


def notices(feature: Feature, statistics: Statistics) -> list[str]:
    """A notice of numbers that are large beside their differences, of which float32 keeps few digits."""
    step = coarse_step(statistics)
    if step is None:
        return []
    values = f"numbers around {statistics['mean']:.3g} that vary by {statistics['std']:.3g}"
    advice = f"{feature.path}.preprocessing.normalization: zscore keeps their digits"
    return [f"column {feature.column!r}: {values}; a 32-bit float holds them in steps of {step:.3g}; {advice}"]


def encode(feature: Feature, values: pa.Array, statistics: Statistics, first_row: int) -> Encoded:
    missing = mask_of(values)
    numbers = values.to_numpy(zero_copy_only=False).astype(np.float64)
    outliers = _outside(numbers, statistics) if "outliers" in statistics else None
    if outliers is not None:  # a value that is replaced need not fit the scaling
        numbers = np.where(outliers, np.nan, numbers)
    scaled = _scaled(numbers, statistics, first_row)
    holes = [(missing, feature.strategy, _filled(statistics, "fill"))]
    if outliers is not None:
        holes.append((outliers, feature.preprocessing.outlier_strategy, _filled(statistics, "outlier_fill")))
    return settle(scaled, holes)


def _scaled(numbers: Floats, statistics: Statistics, first_row: int) -> npt.NDArray[np.float32]:
    if statistics["normalization"] == "log1p":
        _no_row(numbers <= -1, numbers, first_row, _LOG)
        numbers = np.log1p(numbers)
    else:
        numbers = (numbers - statistics["shift"]) / statistics["scale"]
    with np.errstate(over="ignore"):
        scaled = numbers.astype(np.float32)
    _no_row(np.isinf(scaled), numbers, first_row, _LARGE)
    return scaled


def _no_row(bad: Mask, numbers: Floats, first_row: int, message: str) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        raise BadValueError(first_row + row, float(numbers[row]), message)


def _filled(statistics: Statistics, key: str) -> float | None:
    fill = statistics[key]
    return None if fill is None else float(_scaled(np.array([fill]), statistics, 0)[0])


def decode(encoded: npt.NDArray[Any], statistics: Statistics) -> Floats:
    """Convert encoded numbers, such as a model's predictions, back to the column's own units."""
    if statistics["normalization"] == "log1p":
        with np.errstate(over="ignore"):  # what is too large for a float is infinite
            return np.expm1(encoded.astype(np.float64))
    return encoded.astype(np.float64) * float(statistics["scale"]) + float(statistics["shift"])


def facts(statistics: Statistics) -> dict[str, str]:
    shown = {word: f"{statistics[word]:,.6g}" for word in ("mean", "std", "min", "max")}
    if "outliers" in statistics:
        shown["outliers"] = f"{statistics['outliers']['count']:,}"
    return {**shown, **missing_fact(statistics)}


def distribution(statistics: Statistics) -> Histogram:
    edges, counts = statistics["histogram"]["edges"], statistics["histogram"]["counts"]
    return Histogram(f"{edges[0]:,.4g}", f"{edges[-1]:,.4g}", counts)
