"""The rows with the largest losses of one output: a small mergeable state, exact over any sharding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

MOST = 9
_ROWS, _LOSSES = "worst.rows", "worst.losses"


class WorstRows:
    """At most `MOST` rows: their numbers in the source and their losses, the largest loss first.

    Of equal losses, the row with the smaller number comes first. Losses that are not numbers are left out.
    """

    def __init__(self) -> None:
        self.rows = np.empty(0, dtype=np.int64)
        self.losses = np.empty(0, dtype=np.float64)

    def update(self, rows: npt.NDArray[np.int64], losses: torch.Tensor) -> None:
        """Add the rows of a batch. `losses`: [rows]."""
        self._add(rows, losses.detach().double().cpu().numpy())

    def tensors(self) -> dict[str, torch.Tensor]:
        """The state, for another process."""
        return {_ROWS: torch.from_numpy(self.rows), _LOSSES: torch.from_numpy(self.losses)}

    def add(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Add the rows of another process, given as its `tensors()`."""
        self._add(tensors[_ROWS].numpy(), tensors[_LOSSES].numpy())

    def _add(self, rows: npt.NDArray[np.int64], losses: npt.NDArray[Any]) -> None:
        known = np.isfinite(losses)
        rows, losses = np.append(self.rows, rows[known]), np.append(self.losses, losses[known])
        order = np.lexsort((rows, -losses))[:MOST]
        self.rows, self.losses = rows[order], losses[order]
