"""Compute something for each block of a data set with a saved model. The place does not change the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from trainwright_trainer.backends.local import local
from trainwright_trainer.data.new_data import EncodedBlock, NewData
from trainwright_trainer.job.job import Job
from trainwright_trainer.tasks.saved_model import SavedModel

T = TypeVar("T")
Make = Callable[[SavedModel], Callable[[EncodedBlock], T]]
"""Makes the function of a block. It can be pickled, and so can its results."""
Log = Callable[..., None]
"""Logs lines for the user."""


class Blocks(Protocol):
    """`device`: of the model in this process."""

    @property
    def device(self) -> str: ...

    def map(self, saved: SavedModel, data: NewData, make: Make[T]) -> Iterator[T]:
        """The results of all blocks, in their order. Afterwards the tally of `data` is complete.

        Raises the exceptions of `data.blocks()`.
        """


@dataclass(frozen=True)
class BlocksHere:
    """One block after the other in this process."""

    device: str = "cpu"

    @classmethod
    def of(cls, job: Job) -> BlocksHere:
        return cls(local(use_gpu=job.spec.backend.trainer.use_gpu).device)

    def map(self, saved: SavedModel, data: NewData, make: Make[T]) -> Iterator[T]:
        return map(make(saved), data.blocks())
