"""The agreement of the ranks in each step: sums, such as that of the loss, and the votes of all ranks."""

from __future__ import annotations

from collections.abc import Callable

import torch

from trainwright_trainer.distributed.ranks import Ranks

Flags = tuple[bool, ...]
Sums = Callable[[], torch.Tensor]
StartSum = Callable[[torch.Tensor], Sums]


class StepAgreement:
    """Sums the loss of a step over all ranks, beside the backward pass. Other sums and the votes travel with it, so
    none of them costs a wait of its own."""

    def __init__(self, ranks: Ranks, ask: Callable[[], Flags], start_sum: StartSum | None = None) -> None:
        """`ask` returns this rank's flags. It is called once a step. `start_sum`: that of the engine."""
        self._ranks, self._ask, self._start_sum = ranks, ask, start_sum or ranks.start_sum
        self._agreed: Flags = ()
        self._sums: Sums | None = None
        self._votes: Sums | None = None

    def start(self, own: torch.Tensor) -> None:
        """Start the sum of this rank's numbers, [n]. Called once a step, before the last backward pass.

        On a CPU, one sum has numbers and votes. On a GPU, an all-reduce on the CPU sums the votes, so that no rank
        waits for the queue of the GPU.
        """
        if self._ranks.world == 1:
            self._sums = lambda: own
        elif own.is_cpu:
            votes = torch.tensor([float(flag) for flag in self._ask()], dtype=torch.float64)
            self._sums = self._start_sum(torch.cat([own.double(), votes]))
        else:
            self._votes = self._ranks.start_sum(torch.tensor([float(flag) for flag in self._ask()]))
            self._sums = self._start_sum(own.clone())
        self._number, self._dtype = len(own), own.dtype

    def total(self) -> torch.Tensor:
        """The sums over all ranks, [n]. Called once a step, after the backward pass."""
        assert self._sums is not None
        found = self._sums()
        if self._ranks.world == 1 or not found.is_cpu:
            return found
        self._agreed = tuple(vote > 0 for vote in found[self._number :].tolist())
        return found[: self._number].to(self._dtype)

    def agreed(self) -> Flags:
        """The flags after a step, the same on every rank: a flag is True if any rank's flag was True."""
        if self._ranks.world == 1:
            return self._ask()
        if self._votes is not None:
            self._agreed, self._votes = tuple(flag > 0 for flag in self._votes().tolist()), None
        return self._agreed
