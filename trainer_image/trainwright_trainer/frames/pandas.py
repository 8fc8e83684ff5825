"""The local processor, called as Ludwig calls it: a few threads of this process. Arrow and numpy let go of the lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pyarrow as pa

from trainwright_trainer.frames.interface import Block, Result


class PandasProcessor:
    """Maps blocks in `threads` threads, at most twice as many blocks ahead of the one that is taken next.

    By default in as many as Arrow uses.
    """

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads or pa.cpu_count()

    def map_blocks(self, function: Callable[[Block], Result], blocks: Iterable[Block]) -> Iterator[Result]:
        """`function` of each block, in the order of the blocks. The first block's exception that fails is raised."""
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
    """Arrow, and whoever maps blocks, works in so many threads, and afterwards in as many as before."""
    before = pa.cpu_count()
    pa.set_cpu_count(threads)
    try:
        yield
    finally:
        pa.set_cpu_count(before)
