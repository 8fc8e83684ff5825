"""The collectives between the ranks of a training, and the measurement of the waits in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, TypeVar

import torch

T = TypeVar("T")


class PeerLost(Exception):
    """Another process of the training is gone. This one ends too; the backend or the launcher may start all again."""


class Watch(Protocol):
    """Measures the time of a rank's own work."""

    measuring: bool
    """True in a step that is measured. In other steps an engine may omit `computed`."""

    def computed(self) -> None:
        """Called once a step, when the rank's own gradients are computed. The sum over ranks may still be missing."""
        ...

    def waiting(self) -> AbstractContextManager[None]:
        """A context around each wait for other ranks before `computed`."""
        ...


class Unwatched:
    """A watch that measures nothing."""

    measuring = False

    def computed(self) -> None: ...

    def waiting(self) -> AbstractContextManager[None]:
        return nullcontext()


class Ranks(Protocol):
    """The processes that train together, seen from one of them.

    All ranks must call the methods in the same order; otherwise they wait for ever. The exception is `leave`, which one
    rank may call alone. A rank that waits for a lost process raises `PeerLost`.
    """

    watch: Watch
    """Measures this rank. The training loop sets it."""

    @property
    def rank(self) -> int: ...

    @property
    def world(self) -> int:
        """The number of processes that share each global batch."""
        ...

    @property
    def device(self) -> torch.device: ...

    def sum(self, own: torch.Tensor) -> torch.Tensor:
        """The sum over all ranks, as a new tensor."""
        ...

    def start_sum(self, own: torch.Tensor) -> Callable[[], torch.Tensor]:
        """Start a sum in place. The returned function waits for it and returns the sum."""
        ...

    def stack(self, own: torch.Tensor) -> torch.Tensor:
        """[ranks, …]: the tensors of all ranks, in rank order."""
        ...

    def gather(self, own: T) -> Sequence[T]:
        """The values of all ranks in rank order, on rank 0; an empty sequence elsewhere. Tensors must be on the CPU and
        may have different shapes."""
        ...

    def share(self, value: T) -> T:
        """Rank 0's value, on every rank."""
        ...

    def beside(self) -> Ranks:
        """The same ranks with connections of their own, for another thread, or for a long wait. All ranks must call
        this."""
        ...

    def before_leave(self, callback: Callable[[], None]) -> None:
        """Call `callback` at the beginning of `leave` and `abort`."""
        ...

    def leave(self) -> None:
        """End the collectives. All ranks call this."""
        ...

    def abort(self) -> None:
        """Called by one rank that gives up. It waits for no other. The others raise `PeerLost` where they would wait
        for it."""
        ...


class OneRank:
    """A process that trains alone."""

    rank = 0
    world = 1

    def __init__(self, device: torch.device | str = "cpu") -> None:
        self.device = torch.device(device)
        self.watch: Watch = Unwatched()

    def sum(self, own: torch.Tensor) -> torch.Tensor:
        return own.clone()

    def start_sum(self, own: torch.Tensor) -> Callable[[], torch.Tensor]:
        return lambda: own

    def stack(self, own: torch.Tensor) -> torch.Tensor:
        return own.unsqueeze(0)

    def gather(self, own: T) -> Sequence[T]:
        return [own]

    def share(self, value: T) -> T:
        return value

    def beside(self) -> OneRank:
        return self

    def before_leave(self, callback: Callable[[], None]) -> None: ...

    def leave(self) -> None: ...

    def abort(self) -> None: ...


def sum_with_own_gradient(ranks: Ranks, part: torch.Tensor) -> torch.Tensor:
    """The sum over all ranks as a value, with the gradient of this rank's part alone."""
    if ranks.world == 1:
        return part
    own = part.detach()
    return part + (ranks.sum(own) - own)
