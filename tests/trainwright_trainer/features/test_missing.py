"""Filling from neighbours, compared with a slow and simple implementation."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.features.missing import are_missing, array_of, fill_from_neighbours, rows_of, settle


def plainly(values, holes, forward):
    filled = list(values)
    for row in holes:
        before = [value for value in values[:row][::-1] if value is not None]
        after = [value for value in values[row + 1 :] if value is not None]
        sides = (before, after) if forward else (after, before)
        filled[row] = next((side[0] for side in sides if side), None)
    return filled


@given(st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=1, max_size=20), st.data(), st.booleans())
def test_gaps_take_the_nearest_value(values, data, forward):
    empty = [row for row, value in enumerate(values) if value is None]
    holes = data.draw(st.sets(st.sampled_from(empty))) if empty else set()
    mask = np.array([row in holes for row in range(len(values))])
    column = pa.array(values, pa.int32())
    found = fill_from_neighbours(column, mask if forward else None, None if forward else mask)
    assert found.to_pylist() == plainly(values, holes, forward)


def test_a_column_without_values_stays_empty():
    column = pa.array([None, None], pa.float32())
    assert fill_from_neighbours(column, np.array([True, True]), None).to_pylist() == [None, None]


def test_vectors_are_filled_whole():
    column = pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int32(), 2))
    assert fill_from_neighbours(column, np.array([False, True, False]), None).to_pylist() == [[1, 2], [1, 2], [3, 4]]


def test_arrays_and_rows_are_inverse():
    for array in (pa.array([1.5, 2.5, 3.5], pa.float32()), pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int32(), 2))):
        part = array.slice(1, 2)
        assert array_of(rows_of(part), None).to_pylist() == part.to_pylist()


def test_unseen_rows_are_dropped_whatever_the_strategy():
    where, unseen = np.array([True, False, False]), np.array([False, True, False])
    found = settle(np.array([0, 0, 7], np.int32), [(where, "fill_with_const", 5)], unseen)
    assert found.values.to_pylist() == [5, None, 7]
    assert found.unseen == 1


def test_a_column_of_nan_alone_has_no_value():
    """pandas makes one of a column of lists or of bytes in which every value is missing."""
    nan = float("nan")
    assert all(are_missing(pa.array(one, kind)) for one, kind in (([None], None), ([nan, None], pa.float64())))
    assert not any(are_missing(pa.array(one)) for one in ([nan, 1.0], ["a"], [[nan]]))
