"""The combiner that concatenates all inputs and applies a fully connected stack, if the config has one.

`flatten_inputs` has no effect: every encoder of this version returns one vector a row, which is flat already.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from trainwright_api.config.combiners.concat import ConcatCombiner
from trainwright_trainer.layers.fully_connected import FullyConnected, stack_of


class Concat(nn.Module):
    """[rows, w₁], [rows, w₂], … → [rows, output_size], in the order of the config's inputs."""

    def __init__(self, config: ConcatCombiner, input_size: int, path: str) -> None:
        super().__init__()
        self.stack = FullyConnected(input_size, stack_of(config, path), residual=bool(config.residual))
        self.output_size = self.stack.output_size

    def forward(self, inputs: Sequence[torch.Tensor]) -> torch.Tensor:
        combined = inputs[0] if len(inputs) == 1 else torch.cat(list(inputs), 1)
        output: torch.Tensor = self.stack(combined)
        return output
