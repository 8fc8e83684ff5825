"""CPU memory for the tensors of checkpoints, which is used again: to allocate it takes longer than to fill it."""

from __future__ import annotations

import weakref
from collections.abc import Mapping

import torch

from trainwright_trainer.models.trainable import Tensors


class Staging:
    """Copies tensors to the CPU. The memory is pinned if they come from a GPU.

    It keeps at most one buffer for each name. The memory of a checkpoint that is still being written is not used again.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._free: dict[str, torch.Tensor] = {}

    def copied(self, tensors: Tensors) -> dict[str, torch.Tensor]:
        """A copy of the tensors, complete when this returns."""
        found = {name: self._buffer(name, tensor) for name, tensor in tensors.items()}
        for name, buffer in found.items():
            buffer.copy_(tensors[name].detach(), non_blocking=True)
        if self._device.type == "cuda":
            torch.cuda.current_stream(self._device).synchronize()
        return found

    def _buffer(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        kept = self._free.pop(name, None)
        if kept is not None and (kept.shape, kept.dtype) == (tensor.shape, tensor.dtype):
            return kept
        return torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=self._device.type == "cuda")

    def reuse_after(self, owner: object, buffers: Mapping[str, torch.Tensor]) -> None:
        """Use the buffers again when `owner` is gone. Nothing else may hold them then."""
        weakref.finalize(owner, self._free.update, dict(buffers)).atexit = False
