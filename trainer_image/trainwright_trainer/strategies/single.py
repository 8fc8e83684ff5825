"""One process: gradients are what they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from trainwright_trainer.loader.batch import Batch


class Single:
    """The strategy of one process on one device."""

    rank = 0
    world = 1

    def __init__(self, device: torch.device | str = "cpu") -> None:
        self.device = torch.device(device)

    def wrap(
        self, model: Callable[[Batch], Mapping[str, torch.Tensor]]
    ) -> Callable[[Batch], Mapping[str, torch.Tensor]]:
        return model

    def backward(self, loss: torch.Tensor, *, last: bool) -> None:  # noqa: ARG002 - other strategies act at the last pass
        loss.backward()  # type: ignore[no-untyped-call]

    def agree(self, flag: bool) -> bool:
        return flag
