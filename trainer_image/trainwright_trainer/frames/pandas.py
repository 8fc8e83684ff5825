"""The local processor, with Ludwig's name for it: threads in this process. Arrow and numpy release the GIL."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Event
from typing import Any, TypeVar

import pyarrow as pa

from trainwright_trainer.frames.interface import Block, Clean, Result, Source

Item = TypeVar("Item")

KEPT_BYTES = 512 << 20
"""The most bytes of clean blocks that a stage keeps in memory between two passes."""
_MOST_THREADS = 1024
"""Arrow allocates memory for each thread that it may start, and more threads read no faster."""


class PandasProcessor:
    """Maps blocks in `threads` threads. By default, it uses as many threads as Arrow."""

    def __init__(self, threads: int | None = None, kept_bytes: int = KEPT_BYTES) -> None:
        self._threads = threads or pa.cpu_count()
        self._kept_bytes = kept_bytes

    def stage(self, source: Source[Block], clean: Callable[[Block], Clean]) -> KeptStage:
        """A stage whose blocks stay in memory if all of them take at most `kept_bytes`. Else each pass reads again."""
        return KeptStage(source, clean, self._threads, self._kept_bytes)


class KeptStage:
    """The stage of a `PandasProcessor`."""

    def __init__(self, source: Source[Any], clean: Callable[[Any], Any], threads: int, kept_bytes: int) -> None:
        self._source, self._clean, self._threads, self._kept_bytes = source, clean, threads, kept_bytes
        self._kept: deque[Any] | None = None

    def map(self, function: Callable[[Any], Result], *, last: bool = False) -> Iterator[Result]:
        """`function` of each block, in the order of the blocks. Raises the exception of the first block that fails."""
        if self._kept is not None:
            kept, self._kept = self._kept, None if last else self._kept
            yield from in_threads(function, _taken(kept) if last else kept, self._threads)
            return
        kept, size, keeps = deque[Any](), 0, not last
        for block, result in in_threads(partial(_both, self._clean, function), self._source.blocks(), self._threads):
            size += block.nbytes
            keeps = keeps and size <= self._kept_bytes
            if keeps:
                kept.append(block)
            else:
                kept.clear()
            yield result
        self._kept = kept if keeps else None


def _both(clean: Callable[[Any], Any], function: Callable[[Any], Result], raw: Any) -> tuple[Any, Result]:
    block = clean(raw)
    return block, function(block)


def _taken(blocks: deque[Block]) -> Iterator[Block]:
    while blocks:
        yield blocks.popleft()


def in_threads(function: Callable[[Block], Result], blocks: Iterable[Block], threads: int) -> Iterator[Result]:
    """`function` of each block, in their order. It works ahead by at most twice as many blocks as it has threads."""
    with ThreadPoolExecutor(threads, thread_name_prefix="blocks") as pool:
        ahead: deque[Future[Result]] = deque()
        try:
            for block in blocks:
                ahead.append(pool.submit(function, block))
                if len(ahead) > 2 * threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for waiting in ahead:
                waiting.cancel()


def shared_by_threads(function: Callable[[Item], Result], items: Collection[Item], threads: int) -> list[Result]:
    """`function` of each item, in their order. The calling thread is one of `threads`, and each takes the next item.

    For many short calls, this costs less than `in_threads`. After an error no further item is begun.
    """
    rest, found, failed = enumerate(items), dict[int, Result](), Event()

    def work() -> None:
        for at, item in rest:
            if failed.is_set():
                return
            try:
                found[at] = function(item)
            except BaseException:
                failed.set()
                raise

    with ThreadPoolExecutor(max(1, threads - 1), thread_name_prefix="shared") as pool:
        others = [pool.submit(work) for _ in range(threads - 1)]
        work()
        for other in others:
            other.result()
    return [found[at] for at in range(len(found))]


@contextmanager
def reading_with(threads: int) -> Iterator[None]:
    """Limit Arrow, and processors made inside, to `threads` threads. Afterwards, restore the old number."""
    before = pa.cpu_count()
    pa.set_cpu_count(min(threads, _MOST_THREADS))
    try:
        yield
    finally:
        pa.set_cpu_count(before)
