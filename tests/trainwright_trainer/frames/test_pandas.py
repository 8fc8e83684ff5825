"""The local processor: results in the order of the blocks, few blocks ahead, errors of the first block that fails."""

from __future__ import annotations

import threading

import pyarrow as pa
import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.frames import processor_of
from trainwright_trainer.frames.pandas import PandasProcessor, reading_with


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_blocks(threads):
    assert list(PandasProcessor(threads).map_blocks(lambda block: block * 2, range(50))) == [2 * n for n in range(50)]


def test_a_later_block_that_is_done_first_still_comes_later():
    second_done = threading.Event()

    def function(block):
        if block == 0:
            assert second_done.wait(60)
        else:
            second_done.set()
        return block

    assert list(PandasProcessor(2).map_blocks(function, [0, 1])) == [0, 1]


def test_few_blocks_are_taken_ahead():
    taken = []

    def blocks():
        for block in range(100):
            taken.append(block)
            yield block

    results = PandasProcessor(2).map_blocks(lambda block: block, blocks())
    assert next(results) == 0
    assert len(taken) == 5
    results.close()


def test_the_first_block_that_fails_is_reported():
    def function(block):
        if block >= 3:
            raise ValueError(str(block))
        return block

    with pytest.raises(ValueError, match=r"^3$"):
        list(PandasProcessor(3).map_blocks(function, range(20)))


def test_processors_that_are_not_built_say_so():
    assert isinstance(processor_of("pandas", 1), PandasProcessor)
    with pytest.raises(Mistakes, match=r"backend\.processor\.type: not built yet: dask \(this version has pandas\)"):
        processor_of("dask")


def test_arrow_and_the_blocks_have_as_many_threads_as_are_given():
    before = pa.cpu_count()
    with reading_with(before + 3):
        assert pa.cpu_count() == before + 3
        together = threading.Barrier(before + 3, timeout=60)  # it breaks where fewer threads meet
        assert all(PandasProcessor().map_blocks(lambda _: together.wait() >= 0, range(before + 3)))
    assert pa.cpu_count() == before
