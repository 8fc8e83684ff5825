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
    with ThreadPoolExecutor(1, thread_name_prefix="ahead", initializer=_leave_a_core) as pool:
        waiting: deque[Future[T | object]] = deque(pool.submit(next, source, _END) for _ in range(_AHEAD))
        try:
            while (item := waiting.popleft().result()) is not _END:
                waiting.append(pool.submit(next, source, _END))
                yield item  # type: ignore[misc]  # it is no _END
        finally:
            for one in waiting:
                one.cancel()


def _leave_a_core() -> None:
    """Let the calling thread compute with all cores of this process but the one that starts the steps."""
    torch.set_num_threads(max(1, pa.cpu_count() - 1))
