"""Make a whole tensor of the blocks of all ranks."""

from __future__ import annotations

import math

import torch

from trainwright_trainer.distributed.ranks import Ranks
from trainwright_trainer.rundir.blocks import Block


def joined(block: Block, ranks: Ranks) -> torch.Tensor:
    """The whole tensor, on each rank. All ranks must call this with their blocks of one tensor.

    A tensor that every rank has is returned as it is; others are new, on the device of the ranks.
    """
    if block.begin is None or not math.prod(block.shape):
        return block.data.reshape(block.shape)
    own = block.data.flatten().to(ranks.device)
    places = ranks.stack(torch.tensor([block.begin, len(own)], device=ranks.device)).tolist()
    padded = own.new_zeros(max(length for _, length in places))
    padded[: len(own)] = own
    found = own.new_empty(math.prod(block.shape))
    for (begin, length), part in zip(places, ranks.stack(padded), strict=True):
        found[begin : begin + length] = part[:length]
    return found.view(block.shape)
