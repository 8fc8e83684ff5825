"""Blocks: the part that one rank has of a tensor. Ranks write and read their own blocks, and never the whole model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class TensorSpec:
    """The shape and the dtype of a whole tensor."""

    shape: tuple[int, ...]
    dtype: torch.dtype


@dataclass(frozen=True)
class Block:
    """The elements of a tensor of `shape` from the index `begin` on, in row-major order. `data` may have any shape.

    `begin` is None if every rank has the whole tensor.
    """

    data: torch.Tensor
    shape: tuple[int, ...]
    begin: int | None = None

    @property
    def first(self) -> int:
        return self.begin or 0

    @property
    def end(self) -> int:
        return self.first + self.data.numel()


Blocks = Mapping[str, Block]


def whole(tensors: Mapping[str, torch.Tensor]) -> dict[str, Block]:
    """Blocks of tensors that every rank has."""
    return {name: Block(tensor, tuple(tensor.shape)) for name, tensor in tensors.items()}


def own_part(block: Block, rank: int, world: int) -> Block:
    """The part that this rank writes: its block, or an equal share of a tensor that every rank has."""
    if world == 1 or block.begin is not None:
        return block
    first, end = (block.data.numel() * at // world for at in (rank, rank + 1))
    return Block(block.data.flatten()[first:end], block.shape, first)


def copy_common(target: Block, source: Block) -> None:
    """Copy the elements that both blocks have into the memory of `target`."""
    first, end = max(target.first, source.first), min(target.end, source.end)
    if first < end:
        into, values = target.data.view(-1), source.data.flatten()
        into[first - target.first : end - target.first] = values[first - source.first : end - source.first]


def prefixed(prefix: str, blocks: Blocks) -> dict[str, Block]:
    return {f"{prefix}.{name}": block for name, block in blocks.items()}
