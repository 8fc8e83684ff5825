"""The combiner that projects each input to one width, averages the projections, and applies a fully connected stack."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from trainwright_api.config.combiners.project_aggregate import ProjectAggregateCombiner
from trainwright_trainer.combiners.base import Combined, Combiner, CombinerInput
from trainwright_trainer.layers.fully_connected import FullyConnected, linear, stack_of


class ProjectAggregate(Combiner):
    """[rows, w₁], [rows, w₂], … → [rows, output_size]"""

    joins = False

    def __init__(self, config: ProjectAggregateCombiner, inputs: Sequence[CombinerInput], path: str) -> None:
        super().__init__()
        self.projections = nn.ModuleList(linear(one.width, config.projection_size) for one in inputs)
        self.stack = FullyConnected(config.projection_size, stack_of(config, path), residual=bool(config.residual))
        self.output_size = self.stack.output_size

    def forward(self, inputs: Sequence[torch.Tensor]) -> Combined:
        projected = [layer(values) for layer, values in zip(self.projections, inputs, strict=True)]
        return Combined(self.stack(torch.stack(projected).mean(0)))
