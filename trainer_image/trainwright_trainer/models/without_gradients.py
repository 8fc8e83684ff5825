"""The passes of a model that need no gradients."""

from __future__ import annotations

from contextlib import AbstractContextManager

import torch


def without_gradients(world: int) -> AbstractContextManager[None]:
    """Compute no gradients, with a model that `world` ranks train and that trains on afterwards.

    FSDP keeps tensors of a forward pass for the next one, which inference mode does not allow.
    """
    return torch.inference_mode() if world == 1 else torch.no_grad()
