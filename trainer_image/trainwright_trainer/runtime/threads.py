"""The number of threads that compute a training step.

With more threads than a step has work for, threads wait for each other after every operation. On a busy machine that
costs a hundred times the gain. The number also changes the rounding of sums. Therefore it is a pure function of the
step's size and the CPUs, and is never measured in a run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

# Threads, and the minimum multiplications of a forward pass for them: parameters × rows, if each parameter is used once
# a row. bench/README.md has the measurements for two threads; twice the threads need a step twice as large.
TABLE = tuple((1 << power, 1 << (24 + power)) for power in range(1, 8))


def threads_for(multiplications: int, cpus: int) -> int:
    """The number of threads for a step whose forward pass has so many multiplications, at most `cpus`."""
    fed = [threads for threads, least in TABLE if multiplications >= least]
    return max(1, min(cpus, max(fed, default=1)))


@dataclass(frozen=True)
class Threads:
    """`cpus`: those that this process may use. `asked`: --threads or OMP_NUM_THREADS, which override the table."""

    cpus: int
    asked: int | None = None

    def of(self, multiplications: int) -> int:
        """The number of threads for steps whose forward pass has so many multiplications."""
        return self.asked or threads_for(multiplications, self.cpus)


@contextmanager
def computing_with(threads: int) -> Iterator[None]:
    """Set the number of threads of torch inside the context, and restore it on exit."""
    with keeping_threads():
        torch.set_num_threads(threads)
        yield


@contextmanager
def keeping_threads() -> Iterator[None]:
    """Restore the number of threads of torch on exit."""
    before = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(before)
