"""The metrics of one output as a mergeable state: sums over rows, and the rows themselves where their order matters.

`update` runs at every training step, so it only stores the rows. After `FOLDED_TOGETHER` logits the stored rows are
folded into the sums, in float64 and all at once. A GPU folds its rows itself, and its sums stay there until they are
read. Metrics that need numpy are folded by a thread once the rows have been copied; so are all metrics on a CPU if the
steps leave a core free. So neither the GPU nor the next step waits. Rows that are not folded yet belong to the state: a
run that resumes from a checkpoint folds the same rows together as an uninterrupted run, so the sums are equal bit for
bit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch

from trainwright_trainer.metrics.folding import Folding, is_core_free
from trainwright_trainer.metrics.stored_rows import Rows, StoredRows

Array = npt.NDArray[Any]
Sums = dict[str, Array]
AnySum = Array | torch.Tensor
AnySums = Mapping[str, AnySum]
"""Sums on the CPU, or on the GPU that computes them."""
Kept = list[tuple[torch.Tensor, torch.Tensor]]
"""Logits and targets of kept rows."""

# The number of stored logits that triggers folding: 1 MiB in float32. A checkpoint contains the stored rows.
FOLDED_TOGETHER = 1 << 18
_WAITING = ("waiting.logits", "waiting.targets", "waiting.losses")


class OutputMetrics(ABC):
    """Metrics of one output over all rows passed to `update` since the beginning or the last `reset`.

    With `keeps`, the state holds the logits and targets of all rows in addition to the sums. With `running`, it is the
    state of a training round: it is part of each checkpoint, so it may replace many kept rows by sums.
    """

    needs_cpu = True
    """True if `fold` computes with numpy."""

    def __init__(self, feature: Any, statistics: Mapping[str, Any], *, keeps: bool, running: bool) -> None:
        self.feature, self.statistics, self.keeps, self.running = feature, statistics, keeps, running
        self._folding = Folding()
        self.reset()

    def reset(self) -> None:
        self._folding.finish()
        self._folding = Folding()  # a copy of this state may have the other one
        self._sums: AnySums = {}
        self._kept: Kept = []
        self._waiting = StoredRows()

    def update(self, logits: torch.Tensor, targets: torch.Tensor, losses: torch.Tensor) -> None:
        """Add the rows of a batch: logits and targets in the shapes that the loss takes, and one loss a row."""
        rows = logits, targets, losses
        if logits.numel() >= FOLDED_TOGETHER and not self._waiting.rows:
            self._start_fold(rows)
        elif len(losses):
            self._waiting.append(rows, FOLDED_TOGETHER)
            if self._waiting.values >= FOLDED_TOGETHER:
                self._fold()

    def compute(self) -> dict[str, float]:
        """The metrics by name, without those that are undefined for these rows. The state does not change."""
        state = self.folded()
        if not state.rows:
            return {}
        sums = state.sums()
        mean = float(sums["loss"]) / state.weight(sums)
        # A loss named root_… is the root of the mean over all rows.
        loss = mean**0.5 if self.feature.loss.type.startswith("root_") else mean
        return {"loss": loss, **state.scores(sums)}

    def weight(self, sums: Sums) -> int:
        """The divisor of the sum of the losses: the number of rows."""
        return int(sums["rows"])

    @property
    def rows(self) -> int:
        """The number of folded rows."""
        self._folding.finish()
        return int(self._sums.get("rows", np.int64(0)))

    @abstractmethod
    def fold(self, logits: torch.Tensor, targets: torch.Tensor) -> AnySums:
        """Sums over these rows: anything that can be added. Floats are float64, and so are the logits.

        With `needs_cpu` the rows are on the CPU. Else the sums of a GPU's rows are there too, and nothing waits for it.
        """

    @abstractmethod
    def scores(self, sums: Sums) -> dict[str, float]:
        """All metrics except the loss; there is at least one row."""

    def folded(self) -> Self:
        """A copy of this state with all rows folded."""
        self._folding.finish()
        state = copy(self)
        state._kept, state._waiting = list(self._kept), StoredRows()
        if self._waiting.rows:
            state._fold_rows(self._waiting.all())
        return state

    def merge(self, other: Self) -> None:
        """Add the rows of another state of the same output."""
        self._fold()
        self._folding.finish()
        rest = other.folded()
        self._add(rest._sums)
        self._kept += rest._kept
        self._kept = self.condensed(self._kept)

    def sums(self) -> Sums:
        """The sums over the folded rows, on the CPU."""
        self._folding.finish()
        return {name: _array(value) for name, value in self._sums.items()}

    def kept(self) -> tuple[Array, Array]:
        """Logits and targets of the folded rows; only with `keeps`."""
        return joined(self.parts())

    def parts(self) -> Kept:
        """Logits and targets of the folded rows in the parts in which they were added; empty without `keeps`."""
        self._folding.finish()
        return self._kept

    def replace_rows(self, sums: Sums, kept: Kept) -> None:
        """Make these the folded rows of the state."""
        self.reset()
        self._sums, self._kept = sums, kept

    def tensors(self) -> dict[str, torch.Tensor]:
        """The state for a checkpoint, as tensors on the CPU that nothing changes later."""
        found = {f"sums.{name}": torch.from_numpy(np.array(value)) for name, value in self.sums().items()}
        if self._kept:
            found["kept.logits"], found["kept.targets"] = (one.cpu() for one in side_by_side(self._kept))
        if self._waiting.rows:
            waiting = (one.detach().to("cpu", copy=True) for one in self._waiting.all())
            found |= dict(zip(_WAITING, waiting, strict=True))
        return found

    def load(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Replace the state by the result of an earlier `tensors()`."""
        self.reset()
        self._sums = {name[5:]: value.numpy().copy() for name, value in tensors.items() if name.startswith("sums.")}
        if "kept.logits" in tensors:
            self._kept = [(tensors["kept.logits"], tensors["kept.targets"])]
        if "waiting.logits" in tensors:
            logits, targets, losses = (tensors[name] for name in _WAITING)
            self._waiting.append((logits, targets, losses), FOLDED_TOGETHER)

    def add(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Add the rows of another process, given as its `tensors()`."""
        other = copy(self)
        other.load(tensors)
        self.merge(other)

    def _fold(self) -> None:
        if self._waiting.rows:
            self._start_fold(self._waiting.all())
            self._waiting.clear()

    def _start_fold(self, rows: Rows) -> None:
        if self.needs_cpu if rows[0].is_cuda else is_core_free():
            self._folding.start(rows, self._fold_rows)
        else:
            self._fold_rows(rows)

    @torch.no_grad()
    def _fold_rows(self, rows: Rows) -> None:
        logits, targets, losses = (one.detach().cpu() if self.needs_cpu else one.detach() for one in rows)
        if logits.dtype not in (torch.float32, torch.float64):
            logits = logits.float()
        if self.keeps:
            self._kept.append((logits.clone(), self.compact(targets).clone()))
        sums: AnySums = {"rows": np.asarray(len(losses)), "loss": losses.double().sum()}
        self._add({**sums, **self.fold(logits.double(), targets)})
        self._kept = self.condensed(self._kept)

    def condensed(self, kept: Kept) -> Kept:
        """The rows that stay. A `running` state may replace many of them by sums."""
        return kept

    def compact(self, targets: torch.Tensor) -> torch.Tensor:
        """The targets in the form in which they are kept."""
        return targets

    def _add(self, sums: AnySums) -> None:
        """Add sums. A state without rows has none, and changes nothing."""
        added = {name: _sum(self._sums.get(name), value) for name, value in sums.items()}
        self._sums = {**self._sums, **added}


def _sum(known: AnySum | None, value: AnySum) -> AnySum:
    """On the CPU an array. If one of them is on a GPU, a tensor there."""
    if isinstance(value, torch.Tensor) and value.is_cpu:
        value = value.numpy()
    if known is None:
        return value
    device = next((one.device for one in (known, value) if isinstance(one, torch.Tensor)), None)
    if device is None:
        return known + value
    return torch.as_tensor(known, device=device) + torch.as_tensor(value, device=device)


def _array(value: AnySum) -> Array:
    return value.cpu().numpy() if isinstance(value, torch.Tensor) else value


def joined(kept: Kept) -> tuple[Array, Array]:
    """Logits and targets of all parts, on the CPU."""
    logits, targets = side_by_side(kept)
    return logits.cpu().numpy(), targets.cpu().numpy()


def side_by_side(kept: Kept) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits and targets of all parts, on the device of the last one. Those of a checkpoint are on the CPU."""
    device = kept[-1][0].device
    logits, targets = (torch.cat([part[i].to(device) for part in kept]) for i in (0, 1))
    return logits, targets
