"""The local processor, with Ludwig's name for it: threads in this process. Arrow and numpy release the GIL."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pyarrow as pa

from trainwright_trainer.frames.interface import Block, Result

_MOST_THREADS = 2**31 - 1
"""Arrow reads the number as a C int."""


class PandasProcessor:
    """Maps blocks in `threads` threads. By default, it uses as many threads as Arrow.

    It works ahead by at most twice as many blocks as it has threads.
    """

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads or pa.cpu_count()

    def map_blocks(self, function: Callable[[Block], Result], blocks: Iterable[Block]) -> Iterator[Result]:
        """`function` of each block, in the order of the blocks. Raises the exception of the first block that fails."""
        with ThreadPoolExecutor(self._threads, thread_name_prefix="blocks") as pool:
            ahead: deque[Future[Result]] = deque()
            try:
                for block in blocks:
                    ahead.append(pool.submit(function, block))
                    if len(ahead) > 2 * self._threads:
                        yield ahead.popleft().result()
                while ahead:
                    yield ahead.popleft().result()
            finally:
                for waiting in ahead:
                    waiting.cancel()


@contextmanager
def reading_with(threads: int) -> Iterator[None]:
    """Limit Arrow, and processors made inside, to `threads` threads. Afterwards, restore the old number."""
    before = pa.cpu_count()
    pa.set_cpu_count(min(threads, _MOST_THREADS))
    try:
        yield
    finally:
        pa.set_cpu_count(before)
