"""Predict and evaluate on a Ray cluster: tasks read and encode blocks, actors with the model compute.

Files that cannot be divided without reading them (all formats but Parquet), and columns whose gaps are filled from
neighbouring rows, are read and encoded by one task. The results are the same as in one process.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from trainwright_trainer.backends.ray.ordered_map import ordered_map
from trainwright_trainer.backends.ray.resources import Pool
from trainwright_trainer.data.new_data import EncodedBlock, NewData, Tally
from trainwright_trainer.job.job import Job
from trainwright_trainer.runtime.cpus import asked_threads, first_environment, usable_cpus
from trainwright_trainer.runtime.threads import Threads
from trainwright_trainer.tasks.block_reading import read
from trainwright_trainer.tasks.blocks import Make
from trainwright_trainer.tasks.saved_model import SavedModel, model_of, multiplications_of

T = TypeVar("T")
_MOST_BLOCKS = 16
"""The most blocks that a task reads one after the other: the rows of a usual row group of Parquet."""
_PARTS_EACH = 4
"""The parts of a small data set for each actor, so that none waits long for the others."""


@dataclass(frozen=True)
class BlocksOnRay:
    """The blocks of a job on a pool of actors. The model in this process, for what is left to do, is on its CPU."""

    job: Job
    pool: Pool
    device: str = "cpu"

    def map(self, saved: SavedModel, data: NewData, make: Make[T]) -> Iterator[T]:  # noqa: ARG002
        apart = data.apart()
        shared, parts = (data, [range(1)]) if apart is None else (apart, parts_of(apart.count, self.pool.most))
        for found in ordered_map(self.pool, shared, parts, read, partial(_made, self.job, self.pool, make)):
            if isinstance(found, Tally):
                data.tally.add(found)
            elif not data.tally.problems:
                yield found
        data.check()


def parts_of(blocks: int, actors: int) -> list[range]:
    """The numbers of the blocks of each part. Large parts begin where row groups usually do."""
    size = max(1, min(_MOST_BLOCKS, math.ceil(blocks / (actors * _PARTS_EACH))))
    return [range(start, min(start + size, blocks)) for start in range(0, blocks, size)]


def _made(job: Job, pool: Pool, make: Make[T]) -> Callable[[EncodedBlock | Tally], T | Tally]:
    """The function of an actor, with the model on its GPU if it has one."""
    import torch

    saved = model_of(job, "cuda" if pool.use_gpu else "cpu")
    asked = job.options.threads or asked_threads(first_environment())
    torch.set_num_threads(Threads(usable_cpus(pool.cpus), asked).of(multiplications_of(saved)))
    function = make(saved)
    return lambda item: item if isinstance(item, Tally) else function(item)
