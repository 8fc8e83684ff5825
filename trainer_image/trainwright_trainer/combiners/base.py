"""The base class of combiners: the encoder outputs of all inputs → one vector a row, or a sequence of vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from torch import nn


@dataclass(frozen=True)
class CombinerInput:
    """An input of the combiner: the name and the type of the feature, and the width of its encoder's output."""

    name: str
    type: str
    width: int


class Combined(NamedTuple):
    """`values`: [rows, output_size], or [rows, output_length, output_size].

    `penalty`: [rows], a term of the objective of training besides the losses.
    """

    values: torch.Tensor
    penalty: torch.Tensor | None = None


class Combiner(nn.Module, ABC):
    """`inputs`: [rows, width] each, in the order of the config.

    `joins`: neighbouring inputs may be one tensor. Otherwise there is one for each input. `output_length`: the number
    of vectors of a row; None: one vector, without a dimension for it.
    """

    joins: ClassVar[bool] = True
    output_size: int
    output_length: int | None = None

    @abstractmethod
    def forward(self, inputs: Sequence[torch.Tensor]) -> Combined: ...


def side_by_side(inputs: Sequence[torch.Tensor]) -> torch.Tensor:
    """[rows, w₁], [rows, w₂], … → [rows, w₁ + w₂ + …]. One input is not copied."""
    return inputs[0] if len(inputs) == 1 else torch.cat(list(inputs), 1)
