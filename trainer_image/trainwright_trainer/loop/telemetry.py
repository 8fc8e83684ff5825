"""What a rank measures of itself from one round to the next: its own time, its memory, its GPU.

Nothing here waits: neither for a GPU nor, beyond what the steps do anyway, for other ranks.
"""

from __future__ import annotations

import resource
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol

import torch

from trainwright_trainer.callbacks.events import RankRound
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loop.gpu_use import gpu_use
from trainwright_trainer.strategies.interface import Strategy, Watch


class OwnTime(Watch, Protocol):
    """The time from `begin` to `computed`, less what was waited for others between them."""

    def begin(self) -> None:
        """Right before the loader is asked."""
        ...

    def forget(self) -> None:
        """All steps so far."""
        ...

    def mean(self) -> float:
        """Seconds a step since `forget`; 0 where none was measured."""
        ...


class OnCpu:
    """By the clock: whatever a step does there is done when the call returns."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.forget()

    def forget(self) -> None:
        self._seconds, self._steps = 0.0, 0

    def begin(self) -> None:
        self._waited = 0.0
        self._began = self._clock()

    def computed(self) -> None:
        self._seconds += self._clock() - self._began - self._waited
        self._steps += 1

    @contextmanager
    def waiting(self) -> Iterator[None]:
        before = self._clock()
        yield
        self._waited += self._clock() - before

    def mean(self) -> float:
        return self._seconds / max(1, self._steps)


class OnGpu:
    """By two marks in the GPU's queue, stamped when it gets there: this process runs ahead of it, and never waits.

    So the loader counts as far as the GPU stood idle for it. The next step is marked when the stamps of the last are
    there: some steps are passed over. Where ranks share a batch norm, its waits are in the queue too and cannot be told
    apart.
    """

    def __init__(self) -> None:
        event: Any = torch.cuda.Event  # its methods lack types
        self._first, self._last = event(enable_timing=True), event(enable_timing=True)
        self.forget()

    def forget(self) -> None:
        self._marking, self._marked = False, False
        self._seconds, self._steps = 0.0, 0

    def begin(self) -> None:
        if self._marked and self._last.query():
            self._take()
        self._marking = not self._marked
        if self._marking:
            self._first.record()

    def computed(self) -> None:
        if self._marking:
            self._last.record()
            self._marked = True

    def waiting(self) -> AbstractContextManager[None]:
        return nullcontext()

    def mean(self) -> float:
        if self._marked:
            self._last.synchronize()  # at the end of a round, when all that was queued is done
            self._take()
        return self._seconds / max(1, self._steps)

    def _take(self) -> None:
        self._seconds += self._first.elapsed_time(self._last) / 1000
        self._steps += 1
        self._marked = False


class Telemetry:
    """Of one rank. The very first step, which may compile, counts in its own time only where its round has no other."""

    def __init__(self, strategy: Strategy, clock: Callable[[], float]) -> None:
        self._rank, self._device, self._clock = strategy.rank, strategy.device, clock
        on_gpu = strategy.device.type == "cuda"
        self._own: OwnTime = OnGpu() if on_gpu else OnCpu(clock)
        self._use = gpu_use(strategy.device) if on_gpu else None
        self._loader, self._steps = 0.0, 0
        self._warm = False
        strategy.watch(self._own)

    def timed(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """The same batches; each is a step."""
        while True:
            self._own.begin()
            before = self._clock()
            batch = next(batches, None)
            now = self._clock()
            if batch is None:
                return
            self._loader += now - before
            self._steps += 1
            if self._use is not None:
                self._use.look(now)
            yield batch
            if not self._warm:
                self._warm = True
                self._own.forget()

    def round(self, seconds: float) -> RankRound:
        """Of the steps since the last round, which took `seconds` in all."""
        steps = max(1, self._steps)
        found = RankRound(
            self._rank,
            socket.gethostname(),
            seconds / steps,
            self._own.mean(),
            self._loader / steps,
            _memory(),
            self._gpu_memory(),
            None if self._use is None else self._use.mean(),
        )
        self._loader, self._steps, self._warm = 0.0, 0, True
        self._own.forget()
        return found

    def _gpu_memory(self) -> int | None:
        if self._device.type != "cuda":
            return None
        found = torch.cuda.max_memory_allocated(self._device)
        torch.cuda.reset_peak_memory_stats(self._device)
        return found


def _memory() -> int:
    """Linux counts it in KiB, macOS in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
