"""How gradients meet. A strategy knows tensors and process groups; it knows nothing of backends or files.

A new strategy is one file with a class of this shape. The loop weighs the loss of a rank's slice by the rows of the
whole global batch, so what a strategy does with gradients is a plain sum.
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
    """Another process of the training is gone. Whoever started this one starts them all again."""


class Watch(Protocol):
    """One who times what a rank does by itself."""

    def computed(self) -> None:
        """Once a step: the rank's own gradients are there, those of others may not be."""
        ...

    def waiting(self) -> AbstractContextManager[None]:
        """Around each wait for other ranks before that."""
        ...


class Unwatched:
    """Nobody times it."""

    def computed(self) -> None: ...

    def waiting(self) -> AbstractContextManager[None]:
        return nullcontext()


class Strategy(Protocol):
    """One process's part in training together with others (or alone).

    What is not said to be of one rank alone is called by all ranks, in the same order, or they wait for ever.
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
        """What is called to compute logits in training: the model, in whatever the strategy puts around it."""
        ...

    def begin_pass(self, *, last: bool) -> None:
        """Before each pass of a step; `last` is true for the one after which gradients meet."""
        ...

    def backward(self, loss: torch.Tensor) -> None:
        """Adds the loss's gradients to those of the step; after the last pass they are the sum over all ranks."""
        ...

    def total(self, loss: torch.Tensor) -> torch.Tensor:
        """The loss of the global batch, from what this rank's rows add to it; once a step."""
        ...

    def whole(self, part: torch.Tensor) -> torch.Tensor:
        """The sum over all ranks as a value, with the gradient of this rank's part alone."""
        ...

    def vote(self, ask: Callable[[], Flags]) -> None:
        """What each rank is asked once a step, from now on."""
        ...

    def agreed(self) -> Flags:
        """After a step: each flag is true on every rank when one answered so."""
        ...

    def watch(self, watch: Watch) -> None:
        """Who times this rank, from now on."""
        ...

    def gather(self, own: T) -> Sequence[T]:
        """On rank 0 what each rank has, in their order; elsewhere nothing. Tensors on the CPU, of any shapes."""
        ...

    def share(self, value: T) -> T:
        """Rank 0's value, on every rank."""
        ...

    def leave(self) -> None:
        """Of one rank that gives up: the others are told that it is lost, where they would wait for it."""
        ...
