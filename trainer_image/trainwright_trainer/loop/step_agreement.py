"""The agreement of the ranks in each step: sums, such as that of the loss, and the votes of all ranks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import torch

from trainwright_trainer.distributed.ranks import Ranks

Flags = tuple[bool, ...]
Sums = Callable[[], torch.Tensor]
StartSum = Callable[[torch.Tensor], Sums]
StepLoss = float | torch.Tensor
"""The loss of a step: a number on a CPU. On a GPU a tensor [], because its value would have to be waited for."""


LATE_STEPS = 4
"""On a GPU the votes of a step are read so many steps later: to read them at once, the CPU would wait for other ranks
while it should queue the next step."""


class StepAgreement:
    """Sums the loss of a step over all ranks, beside the backward pass. Other sums and the votes travel with it, so
    none of them costs a wait of its own."""

    def __init__(self, ranks: Ranks, ask: Callable[[], Flags], start_sum: StartSum | None = None) -> None:
        """`ask` returns this rank's flags. It is called once a step. `start_sum`: that of the engine."""
        self._ranks, self._ask, self._start_sum = ranks, ask, start_sum or ranks.start_sum
        self._agreed: Flags = ()
        self._flags: Flags = ()  # those in the sum of the numbers
        self._sums: Sums | None = None
        self._votes: deque[Sums] = deque()

    def start(self, loss: torch.Tensor, others: Sequence[torch.Tensor] = ()) -> None:
        """Start the sum of this rank's loss, [], and of other numbers, vectors. Called once a step, before the last
        backward pass.

        On a CPU, one sum has numbers and votes. On a GPU, an all-reduce on the CPU sums the votes, so that no rank
        waits for the queue of the GPU.
        """
        if self._ranks.world == 1:
            own = _side_by_side(loss.reshape(1), others)
            self._sums = lambda: own
        elif loss.is_cpu:
            # A vector made of Python's numbers is one operation of torch. Each takes 10 µs when the caches are cold.
            self._flags = self._ask()
            own = torch.tensor([float(loss), *map(float, self._flags)], dtype=torch.float64)
            self._sums = self._start_sum(_side_by_side(own, others))
        else:
            flags = self._ask()
            self._agreed = (False,) * len(flags)  # until there are votes to read
            self._votes.append(self._ranks.start_sum(torch.tensor([float(flag) for flag in flags])))
            self._sums = self._start_sum(torch.cat([loss.reshape(1), *others]))

    def total(self) -> StepLoss:
        """The loss of all ranks. Called once a step, after the backward pass and before the update."""
        assert self._sums is not None
        self._found = self._sums()
        if not self._found.is_cpu:
            return self._found[0]
        loss, *votes = self._found.tolist()
        self._agreed = tuple(vote > 0 for vote in votes[: len(self._flags)])
        return float(loss)

    def others(self) -> torch.Tensor:
        """The sums of the other numbers, [n]. Called after `total` and before the update."""
        return self._found[1 + len(self._flags) :]

    def agreed(self) -> Flags:
        """The flags after a step, the same on every rank: a flag is True if any rank's flag was True.

        On a GPU they are the flags of `LATE_STEPS` steps ago.
        """
        if self._ranks.world == 1:
            return self._ask()
        if len(self._votes) > LATE_STEPS:
            return _flags(self._votes.popleft())
        return self._agreed

    def forget_votes(self) -> list[Flags]:
        """Drop the votes that are not read yet, on every rank, and return their flags, which `agreed` never does.

        Called after a save, which they may have asked for.
        """
        sums, self._votes = self._votes, deque()
        return [_flags(votes) for votes in sums]

    def close(self) -> None:
        """Forget who is asked: the trainer, which holds this agreement. A cycle of both would keep the model."""
        self._ask = tuple


def _flags(votes: Sums) -> Flags:
    return tuple(flag > 0 for flag in votes().tolist())


def _side_by_side(own: torch.Tensor, others: Sequence[torch.Tensor]) -> torch.Tensor:
    return torch.cat([own, *others]) if others else own
