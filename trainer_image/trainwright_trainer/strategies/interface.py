"""How gradients meet. A strategy knows tensors and process groups; it knows nothing of backends or files.

A new strategy is one file with a class of this shape. The loop weighs the loss of a rank's slice by the rows of the
whole global batch, so what a strategy does with gradients is a plain sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import torch

from trainwright_trainer.loader.batch import Batch


class Strategy(Protocol):
    """One process's part in training together with others (or alone)."""

    @property
    def rank(self) -> int: ...

    @property
    def world(self) -> int:
        """The number of processes that share each global batch."""
        ...

    @property
    def device(self) -> torch.device: ...

    def wrap(
        self, model: Callable[[Batch], Mapping[str, torch.Tensor]]
    ) -> Callable[[Batch], Mapping[str, torch.Tensor]]:
        """What is called to compute logits in training: the model, in whatever the strategy puts around it."""
        ...

    def backward(self, loss: torch.Tensor, *, last: bool) -> None:
        """Adds the loss's gradients to those of the step; after the `last` pass they are the sum over all ranks."""
        ...

    def agree(self, flag: bool) -> bool:
        """True on every rank when it is true on one."""
        ...
