from __future__ import annotations

import pytest
import torch

from trainwright_trainer.runtime.threads import TABLE, Threads, computing_with, threads_for

SIZES = [1 << power for power in range(44)]


def test_a_small_step_has_one_thread_on_any_machine():
    assert {threads_for(5_000 * 64, cpus) for cpus in (1, 2, 64)} == {1}


def test_a_large_step_has_every_cpu_that_the_table_reaches():
    assert [threads_for(10**12, cpus) for cpus in (1, 2, 3, 6, 64)] == [1, 2, 3, 6, 64]


def test_a_larger_step_never_has_fewer_threads_and_each_row_of_the_table_is_reached():
    found = [threads_for(size, 1024) for size in SIZES]
    assert found == sorted(found)
    assert set(found) == {1, *(threads for threads, _ in TABLE)}
    for threads, work in TABLE:
        assert (threads_for(work - 1, 1024), threads_for(work, 1024)) == (max(1, threads // 2), threads)


def test_what_is_asked_for_comes_before_the_table():
    assert Threads(cpus=2).of(100) == 1
    assert Threads(cpus=2, asked=5).of(100) == 5


@pytest.mark.parametrize("error", [None, ValueError])
def test_torch_computes_with_as_many_as_before_afterwards(error):
    before = torch.get_num_threads()
    try:
        with computing_with(before + 2):
            assert torch.get_num_threads() == before + 2
            if error:
                raise error
    except ValueError:
        pass
    assert torch.get_num_threads() == before
