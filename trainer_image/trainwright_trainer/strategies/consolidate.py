"""The end of a sharded engine: the blocks of all ranks become a whole model."""

from __future__ import annotations

import math

import torch

from trainwright_trainer.distributed.blocks import joined
from trainwright_trainer.distributed.ranks import Ranks
from trainwright_trainer.models.trainable import Trainable, assign
from trainwright_trainer.rundir.blocks import Blocks

SHARE = 0.8
"""The whole tensors take at most this share of the free memory of a device. Forward passes need some too."""
CPU = torch.device("cpu")


def consolidate(model: Trainable, weights: Blocks, ranks: Ranks, dtype: torch.dtype) -> bool:
    """Give a model on the meta device the whole tensors of `weights`, floats as `dtype`. All ranks must call this.

    Returns True if each rank then has the model on its device. If it does not fit on one of them, the result is False:
    rank 0 has the model in the memory of its machine, and the others have none.
    """
    fits = _fits_on_each_device(weights, ranks, dtype)
    found: dict[str, torch.Tensor] = {}
    for name, block in weights.items():
        tensor = joined(block, ranks)
        tensor = tensor.to(dtype) if tensor.is_floating_point() else tensor
        if fits or ranks.rank == 0:
            found[name] = tensor if fits else tensor.to(CPU)
    if found:
        assign(model, found, ranks.device if fits else CPU)
    return fits


def _fits_on_each_device(weights: Blocks, ranks: Ranks, dtype: torch.dtype) -> bool:
    size = sum(math.prod(block.shape) for block in weights.values()) * dtype.itemsize
    misses = torch.tensor(float(size > SHARE * free_bytes(ranks.device)), device=ranks.device)
    return not ranks.sum(misses).item()


def free_bytes(device: torch.device) -> float:
    """The free memory of a GPU, with the part that torch holds and does not use; without a limit for a CPU."""
    if device.type != "cuda":
        return math.inf
    held = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return torch.cuda.mem_get_info(device)[0] + held
