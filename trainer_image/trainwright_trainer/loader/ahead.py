"""Work ahead of the consumer, in a thread, for steps that another device computes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import pyarrow as pa
import torch

T = TypeVar("T")
_AHEAD = 2
_END = object()


def ahead(items: Iterable[T]) -> Iterator[T]:
    """The items in their order. While one is used, a thread makes the next ones, at most `_AHEAD`.

    An exception of the iterator is raised in its place. A consumer that stops early waits for one item at most.
    """
    source = iter(items)
    with ThreadPoolExecutor(1, thread_name_prefix="ahead", initializer=_use_spare_cores) as pool:
        waiting: deque[Future[T | object]] = deque(pool.submit(next, source, _END) for _ in range(_AHEAD))
        try:
            while (item := waiting.popleft().result()) is not _END:
                waiting.append(pool.submit(next, source, _END))
                yield item  # type: ignore[misc]  # it is no _END
        finally:
            for one in waiting:
                one.cancel()


def spare_cores(used: int = 1) -> int:
    """The cores of this process beyond those that the steps use; at least one. By default, one core starts them."""
    cores: int = pa.cpu_count()
    return max(1, cores - used)


def _use_spare_cores() -> None:
    """Let the calling thread compute with the spare cores."""
    torch.set_num_threads(spare_cores())
