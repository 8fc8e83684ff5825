"""Fully connected layers for numbers, binaries and vectors."""

from __future__ import annotations

import torch

from trainwright_api.config.encoders.dense import DenseEncoder
from trainwright_api.problems import Mistakes
from trainwright_trainer.encoders.base import Encoder, EncoderInput
from trainwright_trainer.layers.fully_connected import FullyConnected, stack_of


class Dense(Encoder):
    """floats [rows, width] → [rows, output_size of the last layer]."""

    def __init__(self, config: DenseEncoder, feature: EncoderInput) -> None:
        super().__init__()
        if config.input_size not in (None, feature.width):
            found = f"is {config.input_size}, the feature has {feature.width}; leave it out"
            raise Mistakes.one(f"{feature.path}.input_size", found)
        self.stack = FullyConnected(feature.width, stack_of(config, feature.path, count="num_layers"))
        self.output_size = self.stack.output_size

    def forward(self, columns: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = self.stack(columns)
        return output
