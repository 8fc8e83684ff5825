"""Gaps filled block by block are those of the whole column, bit for bit."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.data.filling import Filling
from trainwright_trainer.features.column import Encoded
from trainwright_trainer.features.missing import fill_from_neighbours

GIVEN, DROPPED, FORWARD, BACKWARD = "given", "dropped", "forward", "backward"
ROWS = st.lists(st.lists(st.sampled_from([GIVEN, DROPPED, FORWARD, BACKWARD]), max_size=4), max_size=8)


def encoded(block, first):
    """The encoded block. The values are the row numbers, as vectors of two."""
    rows = np.arange(first, first + len(block), dtype=np.float32)
    null = np.array([word != GIVEN for word in block], np.bool_)
    values = pa.FixedSizeListArray.from_arrays(pa.array(np.repeat(rows, 2)), 2, mask=pa.array(null))
    masks = (np.array([word == side for word in block], np.bool_) for side in (FORWARD, BACKWARD))
    return Encoded(values, *(mask if mask.any() else None for mask in masks))


@given(ROWS)
def test_blocks_are_filled_as_the_whole_column(words):
    firsts = np.cumsum([0, *map(len, words)])
    blocks = [encoded(block, first) for block, first in zip(words, firsts, strict=False)]
    filling = Filling()
    found = [values for block in blocks for values in filling.add(block)]
    found += filling.end()
    assert [len(values) for values in found] == [len(block.values) for block in blocks]
    whole = encoded([word for block in words for word in block], 0)
    expected = fill_from_neighbours(whole.values, whole.forward, whole.backward)
    assert [row for values in found for row in values.to_pylist()] == expected.to_pylist()


def test_only_blocks_that_need_a_later_row_wait():
    filling = Filling()
    first, second, third = (encoded(block, 0) for block in ([GIVEN, BACKWARD], [BACKWARD, FORWARD], [GIVEN, FORWARD]))
    assert list(filling.add(first)) == []
    assert list(filling.add(second)) == []
    assert len(list(filling.add(third))) == 3
    assert list(filling.end()) == []
