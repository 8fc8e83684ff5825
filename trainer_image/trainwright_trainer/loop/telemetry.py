"""The measurements of one rank between two evaluation rounds: its own time, its memory, its GPU.

During steps the measurements add no wait, neither for the GPU nor for other ranks.
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
from trainwright_trainer.distributed.ranks import Ranks, Watch
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loop.gpu_use import gpu_use

EVERY = 8
"""On a CPU the first steps are measured, as many as this, and then each eighth. A measurement takes 50 µs in DDP."""


class OwnTime(Watch, Protocol):
    """The time from `begin` to `computed`, without the waits for other ranks between them."""

    def begin(self) -> None:
        """Called right before the loader fetches a batch."""
        ...

    def loaded(self, seconds: float) -> None:
        """Called when the batch is there. The loader took `seconds`."""
        ...

    def forget(self) -> None:
        """Drop the measurements of all steps so far."""
        ...

    def mean(self) -> float:
        """The mean seconds of a step since `forget`; 0 if no step was measured."""
        ...


class OnCpu:
    """Measures with the clock: on a CPU all work of a step is done when the call returns.

    The loader's time is that of all steps, because a loader may stop for a window; the rest is that of some steps.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.measuring = False
        self._waited = 0.0  # a run that has nothing left to train waits before any step begins
        self.forget()

    def forget(self) -> None:
        self._loading, self._steps = 0.0, 0
        self._computing, self._measured = 0.0, 0

    def begin(self) -> None:
        self.measuring = self._steps < EVERY or self._steps % EVERY == 0
        self._waited = 0.0

    def loaded(self, seconds: float) -> None:
        self._loading += seconds
        self._steps += 1
        self._began = self._clock()

    def computed(self) -> None:
        if self.measuring:
            self._computing += self._clock() - self._began - self._waited
            self._measured += 1

    @contextmanager
    def waiting(self) -> Iterator[None]:
        before = self._clock()
        yield
        self._waited += self._clock() - before

    def mean(self) -> float:
        return self._loading / max(1, self._steps) + self._computing / max(1, self._measured)


class OnGpu:
    """Measures with two CUDA events, which the GPU stamps when it reaches them. The process does not wait for them.

    The loader's time therefore counts only as far as the GPU is idle meanwhile. A step is measured only when the events
    of the last measured one are complete, so some steps are skipped. A batch norm shared between ranks waits for other
    ranks on the GPU too; the measured time includes these waits.
    """

    def __init__(self) -> None:
        event: Any = torch.cuda.Event  # its methods lack types
        self._first, self._last = event(enable_timing=True), event(enable_timing=True)
        self.forget()

    def forget(self) -> None:
        self.measuring, self._marked = False, False
        self._seconds, self._steps = 0.0, 0

    def begin(self) -> None:
        if self._marked and self._last.query():
            self._take()
        self.measuring = not self._marked
        if self.measuring:
            self._first.record()

    def loaded(self, seconds: float) -> None: ...

    def computed(self) -> None:
        if self.measuring:
            self._last.record()
            self._marked = True

    def waiting(self) -> AbstractContextManager[None]:
        return nullcontext()

    def mean(self) -> float:
        if self._marked:
            self._last.synchronize()  # a round ends here, when all queued work is done
            self._take()
        return self._seconds / max(1, self._steps)

    def _take(self) -> None:
        self._seconds += self._first.elapsed_time(self._last) / 1000
        self._steps += 1
        self._marked = False


class Telemetry:
    """The measurements of one rank. The first step may compile; its own time counts only if its round has no other."""

    def __init__(self, ranks: Ranks, clock: Callable[[], float]) -> None:
        self._rank, self._device, self._clock = ranks.rank, ranks.device, clock
        on_gpu = ranks.device.type == "cuda"
        self._own: OwnTime = OnGpu() if on_gpu else OnCpu(clock)
        self._use = gpu_use(ranks.device) if on_gpu else None
        self._loader, self._steps = 0.0, 0
        self._warm = False
        ranks.watch = self._own

    def timed(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Yield the same batches and measure the loader; each batch is one step."""
        while True:
            self._own.begin()
            before = self._clock()
            batch = next(batches, None)
            now = self._clock()
            if batch is None:
                return
            self._own.loaded(now - before)
            self._loader += now - before
            self._steps += 1
            if self._use is not None:
                self._use.look(now)
            yield batch
            if not self._warm:
                self._warm = True
                self._own.forget()

    def round(self, seconds: float) -> RankRound:
        """The measurements of the steps since the last round, which took `seconds` together."""
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
    """The peak resident memory of this process in bytes. Linux reports KiB, macOS bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
