from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.loader.cut import Cut

SMALL = st.integers(1, 40)


@given(rows=st.integers(1, 200), global_rows=SMALL, world=st.integers(1, 5), virtual=st.none() | SMALL)
def test_the_slices_of_all_ranks_are_each_batch_once(rows: int, global_rows: int, world: int, virtual: int) -> None:
    ranks = [Cut(global_rows, rank, world, virtual_rows=virtual).bounds(rows, 0) for rank in range(world)]
    edges = [edge for slices in zip(*ranks, strict=True) for edge in slices]
    assert edges[0][0] == 0
    assert edges[-1][1] == rows
    assert all(stop == start for (_, stop), (start, _) in pairwise(edges))


@given(rows=SMALL, world=st.integers(1, 5), passed=SMALL, virtual=st.none() | SMALL)
def test_passes_hold_whole_virtual_batches(rows: int, world: int, passed: int, virtual: int) -> None:
    for rank in range(world):
        cut = Cut(rows, rank, world, passed, virtual)
        ((start, stop),) = cut.bounds(rows, 0)
        passes, unit = cut.passes(rows), cut.unit(rows)
        assert passes[-1].stop >= stop - start
        assert all((start + one.start) % unit == 0 for one in passes)
        assert all(min(one.stop, rows) - one.start <= max(passed, unit) for one in passes)
        assert unit <= (virtual or 1)


@pytest.mark.parametrize(("rows", "unit"), [(128, 128), (129, 65), (300, 100), (1, 1)])
def test_virtual_batches_have_nearly_the_same_size(rows: int, unit: int) -> None:
    assert Cut(1000, virtual_rows=128).unit(rows) == unit


def test_a_slice_that_fits_is_one_pass_though_its_last_virtual_batch_is_smaller() -> None:
    """Batch norm needs whole global batches in one pass, also beside ghost norm."""
    assert Cut(66, pass_rows=66, virtual_rows=8).passes(66) == [slice(0, 72)]
    assert len(Cut(66, pass_rows=65, virtual_rows=8).passes(66)) == 2
