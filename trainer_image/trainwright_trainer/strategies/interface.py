"""The interface of strategies, which sum gradients over ranks. A strategy does not depend on backends or files.

A new strategy is one file with a class that implements `Strategy`. The loop divides the loss of a rank's slice by the
rows of the whole global batch, so a strategy sums gradients without weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, TypeVar

import torch

from trainwright_trainer.loader.batch import Batch

Forward = Callable[[Batch], Mapping[str, torch.Tensor]]
Flags = tuple[bool, ...]
T = TypeVar("T")


class PeerLost(Exception):
    """Another process of the training is gone. The backend starts all processes again."""


class Watch(Protocol):
    """Measures the time of a rank's own work."""

    def computed(self) -> None:
        """Called once a step, when the rank's own gradients are computed. The sum over ranks may still be missing."""
        ...

    def waiting(self) -> AbstractContextManager[None]:
        """A context around each wait for other ranks before `computed`."""
        ...


class Unwatched:
    """A watch that measures nothing."""

    def computed(self) -> None: ...

    def waiting(self) -> AbstractContextManager[None]:
        return nullcontext()


class Strategy(Protocol):
    """One process's part in training, with other processes or alone.

    All ranks must call these methods in the same order; otherwise they wait for ever. The exception is `leave`, which
    one rank may call alone.
    """

    @property
    def rank(self) -> int: ...

    @property
    def world(self) -> int:
        """The number of processes that share each global batch."""
        ...

    @property
    def device(self) -> torch.device: ...

    def wrap(self, model: Forward) -> Forward:
        """Return the callable that computes logits in training: the model, possibly wrapped."""
        ...

    def begin_pass(self, *, last: bool) -> None:
        """Called before each pass of a step. `last` is True for the pass after which gradients are summed."""
        ...

    def backward(self, loss: torch.Tensor) -> None:
        """Add the gradients of `loss` to those of the step. After the last pass they are the sum over all ranks."""
        ...

    def total(self, loss: torch.Tensor) -> torch.Tensor:
        """The loss of the global batch: the sum of `loss` over all ranks. Called once a step."""
        ...

    def whole(self, part: torch.Tensor) -> torch.Tensor:
        """The sum over all ranks as a value, with the gradient of this rank's part alone."""
        ...

    def vote(self, ask: Callable[[], Flags]) -> None:
        """Set the function that returns this rank's flags. It is called once a step."""
        ...

    def agreed(self) -> Flags:
        """The flags after a step, the same on every rank: a flag is True if any rank's flag was True."""
        ...

    def watch(self, watch: Watch) -> None:
        """Set the watch that measures this rank."""
        ...

    def gather(self, own: T) -> Sequence[T]:
        """The values of all ranks in rank order, on rank 0; an empty sequence elsewhere. Tensors must be on the CPU and
        may have different shapes."""
        ...

    def share(self, value: T) -> T:
        """Rank 0's value, on every rank."""
        ...

    def leave(self) -> None:
        """Called by one rank that gives up: the others raise `PeerLost` where they would wait for it."""
        ...
