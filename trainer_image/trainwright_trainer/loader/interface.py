"""The interface of a loader. The training loop and the tasks know nothing else of where rows come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.cut import Cut


class Loader(Protocol):
    """The valid rows of one part of the data set, as batches on the device of this rank. A row is valid if no feature
    is null."""

    def __len__(self) -> int:
        """The number of rows, of all ranks together."""
        ...

    def epoch(self, epoch: int, from_row: int, cut: Cut) -> Iterator[Batch]:
        """This rank's slice of each global batch, in the order of an epoch.

        `epoch` counts from 0. `from_row` is the number of rows that precede, a multiple of `cut.global_rows`. The order
        is a function of the seed, the epoch and the settings, never of the cut.
        """
        ...

    def sequential(self, size: int, start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        """The rows [start, stop) in the order of the source, `size` at a time, whole on every rank."""
        ...

    def unordered(self, size: int, rows: int, first: int, last: int) -> Iterator[Batch]:
        """The batches [first, last) of the first `rows` rows, `size` rows each, in any order.

        A batch does not depend on `first` and `last`, nor on the loader.
        """
        ...
