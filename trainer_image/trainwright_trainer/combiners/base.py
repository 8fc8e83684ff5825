"""The base class of combiners: the encoder outputs of all inputs → one vector a row, or a sequence of vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from torch import nn

from trainwright_api.config.combiner_relations import ONE_VECTOR
from trainwright_api.problems import Mistakes


@dataclass(frozen=True)
class CombinerInput:
    """An input of the combiner: the name and the type of the feature, and the width of its encoder's output.

    `length`: the largest number of steps, if the encoder keeps the sequence; None for one vector a row.
    """

    name: str
    type: str
    width: int
    length: int | None = None


class Combined(NamedTuple):
    """`values`: [rows, output_size], or [rows, output_length, output_size].

    `penalty`: [rows], a term of the objective of training besides the losses. `lengths`: int64 [rows], the number of
    vectors of each row that count; None: all.
    """

    values: torch.Tensor
    penalty: torch.Tensor | None = None
    lengths: torch.Tensor | None = None


class Combiner(nn.Module, ABC):
    """`inputs`: [rows, width] each, in the order of the config; `Steps` for inputs with a length, which only a combiner
    with `takes_sequences` gets.

    `joins`: neighbouring inputs may be one tensor. Otherwise there is one for each input. `looks_up`: inputs may be a
    `Lookup`. `output_length`: the number of vectors of a row; None: one vector, without a dimension for it.
    `units_of_parts`: those of the first layer, if it multiplies the tables of lookups.
    """

    joins: ClassVar[bool] = True
    looks_up: ClassVar[bool] = False
    takes_sequences: ClassVar[bool] = False
    output_size: int
    output_length: int | None = None
    units_of_parts = 0

    @abstractmethod
    def forward(self, inputs: Sequence[Any]) -> Combined: ...


def check_forms(kind: type[Combiner], word: str, inputs: Sequence[CombinerInput]) -> None:
    """Raise `Mistakes` if an input is a sequence and the combiner takes one vector for each input."""
    for position, one in enumerate(inputs):
        if one.length is not None and not kind.takes_sequences:
            path = f"config.input_features[{position}].encoder.reduce_output"
            raise Mistakes.one(path, ONE_VECTOR.format(word=word))
