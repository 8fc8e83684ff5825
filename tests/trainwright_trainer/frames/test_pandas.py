"""The local processor: results in the order of the blocks, few blocks ahead, errors of the first block that fails."""

from __future__ import annotations

import io
import threading
import time
import weakref
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

from trainwright_trainer.frames.pandas import PandasProcessor, in_threads, reading_with, shared_by_threads


@dataclass(frozen=True)
class Number:
    """A block of 10 bytes."""

    value: int
    nbytes: int = 10


@dataclass
class Numbers:
    """A source of numbers that counts its reads."""

    count: int
    reads: int = 0

    def blocks(self):
        self.reads += 1
        yield from range(self.count)


@pytest.mark.parametrize(("kept_bytes", "reads"), [(100, 1), (99, 3), (0, 3)])
def test_blocks_are_read_again_only_if_they_do_not_fit(kept_bytes, reads):
    numbers = Numbers(10)
    stage = PandasProcessor(2, kept_bytes).stage(numbers, Number)
    for last in (False, False, True):
        assert list(stage.map(lambda block: block.value, last=last)) == list(range(10))
    assert numbers.reads == reads


def test_the_last_pass_frees_blocks_as_it_goes():
    alive = []

    def clean(value):
        block = Number(value)
        alive.append(weakref.ref(block))
        return block

    stage = PandasProcessor(1).stage(Numbers(50), clean)
    list(stage.map(lambda block: block.value))
    assert sum(one() is not None for one in alive) == 50
    for value in stage.map(lambda block: block.value, last=True):
        assert sum(one() is not None for one in alive) <= 50 - value


def test_a_stage_that_was_freed_is_read_again():
    numbers = Numbers(3)
    stage = PandasProcessor(1).stage(numbers, Number)
    for _ in range(2):
        assert list(stage.map(lambda block: block.value, last=True)) == [0, 1, 2]
    assert numbers.reads == 2


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_blocks(threads):
    assert list(in_threads(lambda block: block * 2, range(50), threads)) == [2 * n for n in range(50)]


def test_a_later_block_that_is_done_first_still_comes_later():
    second_done = threading.Event()

    def function(block):
        if block == 0:
            assert second_done.wait(60)
        else:
            second_done.set()
        return block

    assert list(in_threads(function, [0, 1], 2)) == [0, 1]


def test_few_blocks_are_taken_ahead():
    taken = []

    def blocks():
        for block in range(100):
            taken.append(block)
            yield block

    results = in_threads(lambda block: block, blocks(), 2)
    assert next(results) == 0
    assert len(taken) == 5
    results.close()


def test_the_first_block_that_fails_is_reported():
    def function(block):
        if block >= 3:
            raise ValueError(str(block))
        return block

    with pytest.raises(ValueError, match=r"^3$"):
        list(in_threads(function, range(20), 3))


def test_arrow_and_the_blocks_have_as_many_threads_as_are_given():
    before = pa.cpu_count()
    with reading_with(before + 3):
        assert pa.cpu_count() == before + 3
        together = threading.Barrier(before + 3, timeout=60)  # it breaks where fewer threads meet
        stage = PandasProcessor().stage(Numbers(before + 3), Number)
        assert all(stage.map(lambda _: together.wait() >= 0))
    assert pa.cpu_count() == before


def test_a_huge_number_of_threads_costs_no_memory():
    """Arrow's reader of CSV reserves memory for each thread: gigabytes for this number."""
    with reading_with(2**40):
        table = pacsv.open_csv(io.BytesIO(b"a\n1\n2\n")).read_all()
    assert table.num_rows == 2


@pytest.mark.parametrize("threads", [0, 1, 2, 8])
def test_shared_items_keep_their_order(threads):
    assert shared_by_threads(lambda item: item * 2, range(50), threads) == [2 * n for n in range(50)]
    assert shared_by_threads(str, (), threads) == []


def test_two_threads_share_the_items():
    both = threading.Barrier(2, timeout=10)
    assert len(shared_by_threads(lambda _: both.wait(), [0, 1], 2)) == 2


@pytest.mark.parametrize("bad", [0, 3])
def test_after_an_error_no_further_item_is_begun(bad):
    begun = []

    def function(item: int) -> None:
        begun.append(item)
        if item == bad:
            raise OSError("gone")
        time.sleep(0.01)  # or the other thread could take all items before the error

    with pytest.raises(OSError, match="gone"):
        shared_by_threads(function, range(1000), 2)
    assert len(begun) < 10
