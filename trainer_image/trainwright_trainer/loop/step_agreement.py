"""The agreement of the ranks in each step: the sum of the loss, and the votes of all ranks."""

from __future__ import annotations

from collections.abc import Callable

import torch

from trainwright_trainer.distributed.ranks import Ranks

Flags = tuple[bool, ...]


class StepAgreement:
    """Sums the loss of a step over all ranks. The votes travel with it, so that they cost no wait of their own."""

    def __init__(self, ranks: Ranks, ask: Callable[[], Flags]) -> None:
        """`ask` returns this rank's flags. It is called once a step."""
        self._ranks, self._ask = ranks, ask
        self._agreed: Flags = ()
        self._pending: Callable[[], torch.Tensor] | None = None

    def total(self, loss: torch.Tensor) -> torch.Tensor:
        """The loss of the global batch. Called once a step, after the backward pass.

        On a CPU, one all-reduce sums loss and votes. On a GPU, a second all-reduce on the CPU sums the votes, so that
        no rank waits for the queue of the GPU.
        """
        if self._ranks.world == 1:
            return loss
        if loss.is_cpu:
            both = torch.tensor([float(loss), *map(float, self._ask())], dtype=torch.float64)
            total, *votes = self._ranks.sum(both).tolist()
            self._agreed = tuple(vote > 0 for vote in votes)
            return torch.tensor(total, dtype=loss.dtype)
        self._pending = self._ranks.start_sum(torch.tensor([float(flag) for flag in self._ask()]))
        return self._ranks.sum(loss)

    def agreed(self) -> Flags:
        """The flags after a step, the same on every rank: a flag is True if any rank's flag was True."""
        if self._ranks.world == 1:
            return self._ask()
        if self._pending is not None:
            self._agreed, self._pending = tuple(flag > 0 for flag in self._pending().tolist()), None
        return self._agreed
