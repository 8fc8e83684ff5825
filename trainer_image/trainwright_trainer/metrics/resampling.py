"""The scores of an output if its rows are drawn again, group by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy

import numpy as np
import numpy.typing as npt

from trainwright_trainer.metrics.base import OutputMetrics


class Resampling:
    """`groups`: the metrics of disjoint groups of rows of one output."""

    def __init__(self, groups: Sequence[OutputMetrics]) -> None:
        self._groups = [group.folded() for group in groups]
        parts = [group.sums() for group in self._groups]
        self._sums = {name: np.stack([sums[name] for sums in parts]) for name in parts[0]}

    def scores(self, counts: npt.NDArray[np.int64]) -> Mapping[str, float]:
        """The scores of the rows in which each group stands `counts` times. Undefined scores are left out."""
        state = copy(self._groups[0])
        state.replace_rows(
            {name: np.tensordot(counts, sums, 1) for name, sums in self._sums.items()},
            [kept for group, count in zip(self._groups, counts, strict=True) for kept in group.parts() * int(count)],
        )
        return state.compute()
