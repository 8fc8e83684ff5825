from __future__ import annotations

import threading

import pytest
import torch

from trainwright_trainer.frames.pandas import reading_with
from trainwright_trainer.loader.ahead import ahead
from trainwright_trainer.runtime.threads import computing_with


def test_all_items_come_in_their_order_and_from_another_thread():
    threads = set()

    def items():
        for item in (1, None, 3):
            threads.add(threading.current_thread())
            yield item

    assert list(ahead(items())) == [1, None, 3]
    assert list(ahead([])) == []
    assert threading.current_thread() not in threads


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (6, 5)])
def test_the_thread_computes_with_all_cores_but_one(cores: int, threads: int):
    with reading_with(cores), computing_with(1):
        assert list(ahead(torch.get_num_threads() for _ in range(1))) == [threads]


def test_it_makes_two_items_beside_the_one_in_use():
    made = []
    third = threading.Event()

    def items():
        for item in range(9):
            made.append(item)
            if item == 2:
                third.set()
            yield item

    found = ahead(items())
    assert next(found) == 0
    assert third.wait(60)
    assert made == [0, 1, 2]
    found.close()
    assert made == [0, 1, 2]


def test_an_exception_comes_after_the_items_before_it():
    def items():
        yield 1
        raise ValueError("broken")

    found = ahead(items())
    assert next(found) == 1
    with pytest.raises(ValueError, match="broken"):
        next(found)
