"""How many threads compute a training step.

More threads than a step can feed wait for each other after every operation. On a machine with other work that costs a
hundred times what they gain, and bits of a sum depend on their number. So the number is a pure function of the step's
size and the CPUs, never measured in a run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import nn

# Threads, and the least parameters × rows of a step for them: bench/README.md has what was measured for two threads. A
# step for twice as many is twice as large.
TABLE = tuple((1 << power, 1 << (24 + power)) for power in range(1, 8))


def threads_for(parameters: int, rows: int, cpus: int) -> int:
    """How many threads compute a step of so many rows, at most `cpus`."""
    fed = [threads for threads, work in TABLE if parameters * rows >= work]
    return max(1, min(cpus, max(fed, default=1)))


@dataclass(frozen=True)
class Threads:
    """`cpus` that this process may use; `asked`: by --threads or OMP_NUM_THREADS, which come before the table."""

    cpus: int
    asked: int | None = None

    def of(self, model: nn.Module, rows: int) -> int:
        """For steps of so many rows."""
        return self.asked or threads_for(parameters_of(model), rows, self.cpus)


def parameters_of(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@contextmanager
def computing_with(threads: int) -> Iterator[None]:
    """Torch computes with so many threads, and afterwards with as many as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
