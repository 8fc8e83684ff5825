"""Fill or drop rows with a missing value: the last step of encoding, the same for every type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.features.column import Encoded, Mask

NEIGHBOURS = ("ffill", "bfill")


def mask_of(values: pa.Array) -> Mask | None:
    """bool [rows]: True for a null; None if there is no null."""
    if not values.null_count:
        return None
    mask: Mask = values.is_null().to_numpy(zero_copy_only=False)
    return mask


def are_missing(values: pa.Array) -> bool:
    """True for a column of nulls, and for one of NaN alone, which pandas makes of a column without values."""
    nan = pa.types.is_floating(values.type) and pc.all(pc.is_nan(values)).as_py() is not False
    return nan or pa.types.is_null(values.type)


def settle(encoded: npt.NDArray[Any], holes: list[tuple[Mask | None, str, Any]], unseen: Mask | None = None) -> Encoded:
    """The encoded block with its missing values filled or dropped. `encoded`: [rows] or [rows, n], changed in place.

    Each of `holes` is (mask, strategy, fill). The values of `encoded` in holes are ignored. A row that `unseen` marks
    is dropped, whatever its strategy.
    """
    dropped = np.zeros(len(encoded), dtype=np.bool_)
    neighbours: dict[str, Mask] = {}
    for where, strategy, fill in holes:
        if where is None:
            continue
        if strategy in NEIGHBOURS:
            neighbours[strategy] = neighbours[strategy] | where if strategy in neighbours else where
        if strategy in NEIGHBOURS or strategy == "drop_row":
            dropped |= where
        else:
            encoded[where] = fill
    if unseen is not None:
        dropped |= unseen
    return Encoded(
        array_of(encoded, dropped if dropped.any() else None),
        neighbours.get("ffill"),
        neighbours.get("bfill"),
        0 if unseen is None else int(np.count_nonzero(unseen)),
    )


def settle_lists(lists: pa.Array, missing: Mask | None, strategy: str, fill: Sequence[int] | None) -> Encoded:
    """The encoded block of lists or of bytes, with its missing values filled by `fill`, or dropped."""
    if missing is None:
        return Encoded(lists)
    rows = np.arange(len(lists))
    if strategy in NEIGHBOURS or strategy == "drop_row":
        forward, backward = (missing if strategy == side else None for side in NEIGHBOURS)
        return Encoded(lists.take(pa.array(rows, mask=missing)), forward, backward)
    filled = pa.concat_arrays([lists, pa.array([fill], lists.type)])
    return Encoded(filled.take(pa.array(np.where(missing, len(lists), rows))))


def array_of(encoded: npt.NDArray[Any], dropped: Mask | None) -> pa.Array:
    """[rows] becomes a primitive array, [rows, n] a fixed-size list of n. Without dropped rows, no value is copied."""
    if encoded.ndim == 1:
        return pa.array(encoded, mask=dropped)
    flat = pa.array(np.ascontiguousarray(encoded).reshape(-1))
    mask = None if dropped is None else pa.array(dropped)
    return pa.FixedSizeListArray.from_arrays(flat, encoded.shape[1], mask=mask)


def rows_of(values: pa.Array) -> npt.NDArray[Any]:
    """The inverse of `array_of`, but without the nulls: the values of null rows are undefined."""
    if pa.types.is_fixed_size_list(values.type):
        size = values.type.list_size
        flat = values.values.slice(values.offset * size, len(values) * size)
        return np.asarray(flat.to_numpy(zero_copy_only=False)).reshape(len(values), size)
    buffer = values.buffers()[1]
    kind = values.type.to_pandas_dtype()
    return np.frombuffer(buffer, dtype=kind, count=len(values), offset=values.offset * np.dtype(kind).itemsize)


def fill_from_neighbours(column: pa.Array, forward: Mask | None, backward: Mask | None) -> pa.Array:
    """The whole column, with the rows of `forward` filled from the row before and of `backward` from the row after.

    The source is the nearest row with a value of its own. If there is none on one side, the other side is used.
    """
    given = column.is_valid().to_numpy(zero_copy_only=False)
    if not given.any() or (forward is None and backward is None):
        return column
    before, after = _nearest(given)
    source = np.where(given, np.arange(len(column)), -1)
    if forward is not None:
        source = np.where(forward, np.where(before >= 0, before, after), source)
    if backward is not None:
        source = np.where(backward, np.where(after >= 0, after, before), source)
    dropped = source < 0
    if pa.types.is_large_list(column.type) or pa.types.is_large_binary(column.type):
        return column.take(pa.array(source, mask=dropped))
    return array_of(rows_of(column)[np.maximum(source, 0)], dropped if dropped.any() else None)


def _nearest(given: Mask) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """For each row, the nearest given row before and after it (or itself); -1 if there is none."""
    rows = np.arange(len(given))
    before = np.maximum.accumulate(np.where(given, rows, -1))
    after = np.minimum.accumulate(np.where(given, rows, len(given))[::-1])[::-1]
    return before, np.where(after == len(given), -1, after)
