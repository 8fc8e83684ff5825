"""The combiner that concatenates all inputs and applies a fully connected stack, if the config has one.

`flatten_inputs` has no effect: every encoder of this version returns one vector a row, which is flat already.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from trainwright_api.config.combiners.concat import ConcatCombiner
from trainwright_trainer.combiners.base import Combined, Combiner, CombinerInput, side_by_side
from trainwright_trainer.layers.fully_connected import FullyConnected, stack_of


class Concat(Combiner):
    """[rows, w₁], [rows, w₂], … → [rows, output_size], in the order of the config's inputs."""

    def __init__(self, config: ConcatCombiner, inputs: Sequence[CombinerInput], path: str) -> None:
        super().__init__()
        width = sum(one.width for one in inputs)
        self.stack = FullyConnected(width, stack_of(config, path), residual=bool(config.residual))
        self.output_size = self.stack.output_size

    def forward(self, inputs: Sequence[torch.Tensor]) -> Combined:
        return Combined(self.stack(side_by_side(inputs)))
