"""Exact counts of distinct values, block by block. The result does not depend on the order of the blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa


def counts_of(values: pa.Array) -> pa.Table:
    """The columns `value` and `count` (int64) of one block, without nulls."""
    coded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    codes = coded.indices.drop_null().to_numpy()
    counts = np.bincount(codes, minlength=len(coded.dictionary)) if len(codes) else np.zeros(len(coded.dictionary), int)
    table = pa.table({"value": coded.dictionary, "count": counts.astype(np.int64)})
    return table.filter(pa.array(counts > 0))


def total(blocks: Sequence[pa.Table]) -> pa.Table:
    """The sum of the blocks' counts, in descending order of count, then in ascending order of value (UTF-8 bytes)."""
    table = pa.concat_tables(blocks).group_by("value").aggregate([("count", "sum")])
    table = table.rename_columns({"value": "value", "count_sum": "count"})
    return table.sort_by([("count", "descending"), ("value", "ascending")])
