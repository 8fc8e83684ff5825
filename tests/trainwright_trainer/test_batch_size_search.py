from __future__ import annotations

import numpy as np
import pytest
import torch

from trainwright_trainer.batch_size_search import candidates, out_of_memory, search, seconds_of
from trainwright_trainer.errors import EnvironmentFailure


def test_it_doubles_until_the_first_slowdown():
    tried = []

    def seconds(size: int) -> float:
        tried.append(size)
        return 1.0 if size <= 16 else size / 8

    assert search(seconds, 10_000, 10_000) == 16
    assert tried == [1, 2, 4, 8, 16, 32]


@pytest.mark.parametrize(
    ("rows", "limit", "largest"),
    [(10_000, 10_000, 1024), (10_000, 100, 64), (100, 2**40, 16), (3, 2**40, 1), (2**40, 2**40, 2**19)],
)
def test_no_size_is_above_a_fifth_of_the_rows_or_the_limit_or_the_twentieth(rows, limit, largest):
    assert candidates(rows, limit)[-1] == largest
    assert search(lambda _: 1.0, rows, limit) == largest


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
        MemoryError(),
    ],
)
def test_running_out_of_memory_ends_the_search(error):
    def seconds(size: int) -> float:
        if size >= 8:
            raise error
        return 1.0

    def none(_: int) -> float:
        raise error

    assert out_of_memory(error)
    assert search(seconds, 10_000, 10_000) == 4
    with pytest.raises(EnvironmentFailure, match="a single row does not fit"):
        search(none, 10_000, 10_000)


def test_another_error_is_not_swallowed():
    def seconds(_: int) -> float:
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes"):
        search(seconds, 100, 100)


def test_the_median_of_five_steps_counts():
    looks = iter(np.cumsum([0, 9, 0, 1, 0, 2, 0, 3, 0, 90]).tolist())
    assert seconds_of(lambda: None, lambda: next(looks)) == 3
