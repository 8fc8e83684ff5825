"""Vector features: lists of numbers, or texts of numbers; encoded as fixed-size lists of float32."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.features.column import Cleaned, Encoded, Feature, Mask, Rounds, Statistics, missing_fact
from trainwright_trainer.features.errors import BadValueError, WrongTypeError, kind_of
from trainwright_trainer.features.missing import are_missing, array_of, mask_of, rows_of, settle
from trainwright_trainer.features.numerals import numbers_of
from trainwright_trainer.features.texts import total
from trainwright_trainer.features.vector_moments import VectorMoments, merged, observed
from trainwright_trainer.features.vector_texts import spelt_plainly

_SIZE = "has {found} numbers in row {{row}}, and {size} in the rows before. A vector column has one size."
_WANTED = "has {found} numbers in row {{row}}, and preprocessing.vector_size is {size}."
_REMEDY = "Mend it, or use missing_value_strategy drop_row. (Row 1 is the first row of data.)"
_UNFIT = f"holds {{value}} in row {{row}}, which is no vector of numbers, as in 1.0 2.5 or [1.0, 2.5]. {_REMEDY}"
_COMMA = (
    "holds {value} in row {row}, which is no vector of numbers, as in 1.0 2.5 or [1.0, 2.5]. A comma separates numbers "
    f"only before a space or in brackets, and is no decimal mark. {_REMEDY}"
)
_NO_SHARES = (
    "holds {value} in row {row}, which are no shares: with the loss softmax_cross_entropy, the numbers of a row are at "
    "least 0 and their sum is 1. Mend it, or use another loss. (Row 1 is the first row of data.)"
)
_TOLERANCE = 1e-3
"""The largest distance of the sum of shares from 1."""
_FIRST_ROWS = 100
_SIGNS = r"[\[(,;]"
"""If the first rows of a block have such signs, its texts are spelt plainly before they are read as numbers."""


@dataclass(frozen=True)
class _Read:
    """int32 [rows]: the sizes, -1 for a missing value. float32 [n]: the numbers of all rows. `unfit`: rows with other
    values (None if there are none)."""

    sizes: npt.NDArray[np.int32]
    numbers: npt.NDArray[np.float32]
    unfit: Mask | None


def refuse(feature: Feature) -> None:
    feature.refuse_set("computed_fill_value")


def clean(feature: Feature, values: pa.Array, first_row: int) -> Cleaned:
    """`fixed_size_list<float32>`, of size 0 if the block holds no vector."""
    found = _read(values)
    sizes, unfit = found.sizes, found.unfit
    if unfit is not None and feature.strategy != "drop_row":
        row = int(np.argmax(unfit))
        value = values[row].as_py()
        raise BadValueError(first_row + row, value, _COMMA if isinstance(value, str) and "," in value else _UNFIT)
    present = (sizes > 0) if unfit is None else (sizes > 0) & ~unfit  # a vector without numbers is missing
    if not present.any():
        return Cleaned(pa.nulls(len(values), pa.list_(pa.float32(), 0)), _count(unfit))
    size = feature.preprocessing.vector_size or int(sizes[np.argmax(present)])
    _one_size(sizes, present, size, first_row, feature.preprocessing.vector_size is not None)
    vectors = _fixed(found.numbers, sizes, present, size)
    if feature.is_shares:
        _check_shares(vectors, present, values, first_row)
    return Cleaned(vectors, _count(unfit))


def _read(values: pa.Array) -> _Read:
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return _of_lists(_lists(values))
    texts = pc.utf8_trim_whitespace(values)
    if pc.any(pc.match_substring_regex(texts[:_FIRST_ROWS], _SIGNS)).as_py():
        return _of_texts(spelt_plainly(texts))
    found = _of_texts(texts)
    if found.unfit is None:
        return found
    unfit = texts.filter(pa.array(found.unfit))
    return found if spelt_plainly(unfit).equals(unfit) else _of_texts(spelt_plainly(texts))


def _of_texts(texts: pa.Array) -> _Read:
    return _of_lists(pc.utf8_split_whitespace(pc.if_else(pc.equal(texts, ""), None, texts)))


def _of_lists(lists: pa.Array) -> _Read:
    sizes = pc.fill_null(pc.list_value_length(lists), -1).to_numpy(zero_copy_only=False)
    return _Read(sizes, *_numbers(lists, sizes))


def _lists(values: pa.Array) -> pa.Array:
    kind = values.type
    if are_missing(values):
        return pa.nulls(len(values), pa.list_(pa.float32()))
    if pa.types.is_fixed_size_list(kind):
        return pc.cast(values, pa.list_(kind.value_type))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return values
    raise WrongTypeError(f"holds {kind_of(kind)}, the feature is a vector.")


def _numbers(lists: pa.Array, sizes: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.float32], Mask | None]:
    """`numbers` and `unfit` of `_Read`."""
    flat = lists.flatten()
    if pa.types.is_string(flat.type) or pa.types.is_large_string(flat.type):
        flat, _ = numbers_of(flat)
    try:
        numbers = pc.cast(flat, pa.float32(), safe=False).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise WrongTypeError(f"holds lists of {kind_of(flat.type)}, the feature is a vector of numbers.") from error
    finite = np.isfinite(numbers)
    if finite.all():
        return numbers, None
    owners = np.repeat(np.arange(len(sizes)), np.maximum(sizes, 0))
    unfit = np.zeros(len(sizes), dtype=np.bool_)
    unfit[owners[~finite]] = True
    return numbers, unfit


def _count(unfit: Mask | None) -> int:
    return 0 if unfit is None else int(np.count_nonzero(unfit))


def _one_size(sizes: npt.NDArray[np.int32], present: Mask, size: int, first_row: int, wanted: bool) -> None:
    wrong = present & (sizes != size)
    if wrong.any():
        row = int(np.argmax(wrong))
        message = (_WANTED if wanted else _SIZE).format(found=int(sizes[row]), size=size)
        raise BadValueError(first_row + row, None, message)


def _check_shares(vectors: pa.Array, present: Mask, values: pa.Array, first_row: int) -> None:
    numbers = rows_of(vectors)
    wrong = present & ((numbers < 0).any(axis=1) | (np.abs(numbers.sum(axis=1) - 1) > _TOLERANCE))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise BadValueError(first_row + row, values[row].as_py(), _NO_SHARES)


def _fixed(numbers: npt.NDArray[np.float32], sizes: npt.NDArray[np.int32], present: Mask, size: int) -> pa.Array:
    if present.all():
        return array_of(numbers.reshape(-1, size), None)
    rows = np.zeros((len(sizes), size), dtype=np.float32)
    owners = np.repeat(present, np.maximum(sizes, 0))
    rows[present] = numbers[owners].reshape(-1, size)
    return array_of(rows, ~present)


def rounds(feature: Feature) -> Rounds:  # noqa: ARG001
    return Rounds()


def observe(feature: Feature, values: pa.Array, so_far: Statistics) -> VectorMoments:  # noqa: ARG001
    return observed(values, counts=feature.strategy == "fill_with_mode")


def merge(feature: Feature, states: Sequence[VectorMoments]) -> VectorMoments:  # noqa: ARG001
    return merged(states)


def conclude(feature: Feature, states: Sequence[Any], so_far: Statistics) -> dict[str, Any]:  # noqa: ARG001
    whole = merged(states)
    if not whole.size:
        raise WrongTypeError("has no vector in any training row.")
    return {
        "type": "vector",
        "rows": whole.rows,
        "missing": whole.missing,
        "size": whole.size,
        "mean": whole.mean.tolist(),
        "std": np.sqrt(whole.m2 / (whole.rows - whole.missing)).tolist(),
        "fill": _fill(feature, whole),
    }


def _fill(feature: Feature, whole: VectorMoments) -> list[float] | None:
    if feature.strategy == "fill_with_mode":
        most: bytes = total(whole.counts)["value"][0].as_py()
        return [float(number) for number in np.frombuffer(most, dtype=np.float32)]
    if feature.strategy != "fill_with_const":
        return None
    given = [float(number) for number in str(feature.preprocessing.fill_value).split()]
    if given and len(given) != whole.size:
        raise WrongTypeError(f"has vectors of {whole.size} numbers, and preprocessing.fill_value has {len(given)}.")
    return given or [0.0] * whole.size


def notices(feature: Feature, statistics: Statistics) -> list[str]:  # noqa: ARG001
    return []


def encode(feature: Feature, values: pa.Array, statistics: Statistics, first_row: int) -> Encoded:
    size, found = statistics["size"], values.type.list_size
    missing = mask_of(values)
    if found != size and values.null_count < len(values):
        row = int(np.argmax(values.is_valid().to_numpy(zero_copy_only=False)))
        raise BadValueError(first_row + row, None, _SIZE.format(found=found, size=size))
    vectors = rows_of(values).copy() if found == size else np.zeros((len(values), size), np.float32)
    return settle(vectors, [(missing, feature.strategy, statistics["fill"])])


def facts(statistics: Statistics) -> dict[str, str]:
    mean, std = np.mean(statistics["mean"]), np.mean(statistics["std"])
    numbers = {"size": f"{statistics['size']:,}", "mean": f"{mean:,.6g}", "std": f"{std:,.6g}"}
    return {**numbers, **missing_fact(statistics)}


def distribution(statistics: Statistics) -> None:
    """None: a vector does not have a single axis."""
