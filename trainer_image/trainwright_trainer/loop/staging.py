"""CPU memory for the tensors of checkpoints, which is used again: to allocate it takes longer than to fill it."""

from __future__ import annotations

import weakref
from dataclasses import replace

import torch

from trainwright_trainer.rundir.blocks import Blocks


class Staging:
    """Copies tensors to the CPU. The memory is pinned if they come from a GPU.

    It keeps at most one buffer for each name. The memory of a checkpoint that is still being written is not used again.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._free: dict[str, torch.Tensor] = {}

    def copied(self, blocks: Blocks) -> Blocks:
        """A copy of the blocks, complete when this returns."""
        found = {name: replace(block, data=self._buffer(name, block.data)) for name, block in blocks.items()}
        for name, block in found.items():
            block.data.copy_(blocks[name].data.detach(), non_blocking=True)
        if self._device.type == "cuda":
            torch.cuda.current_stream(self._device).synchronize()
        return found

    def _buffer(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        kept = self._free.pop(name, None)
        if kept is not None and (kept.shape, kept.dtype) == (tensor.shape, tensor.dtype):
            return kept
        return torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=self._device.type == "cuda")

    def reuse_after(self, owner: object, blocks: Blocks) -> None:
        """Use the memory of the blocks again when `owner` is gone. Nothing else may hold it then."""
        buffers = {name: block.data for name, block in blocks.items()}
        weakref.finalize(owner, self._free.update, buffers).atexit = False
