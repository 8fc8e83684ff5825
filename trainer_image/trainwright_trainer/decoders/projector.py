"""The decoder of a vector of values."""

from __future__ import annotations

import torch

from trainwright_api.config.decoders import ProjectorDecoder
from trainwright_trainer.decoders.affine_output import AffineOutput
from trainwright_trainer.decoders.base import Decoder, agree, head
from trainwright_trainer.layers.fully_connected import activation


class Projector(Decoder):
    """→ [rows, width]: the linear layer, then the activation, the multiplier and the clipping that the config gives."""

    def __init__(
        self, config: ProjectorDecoder, input_size: int, width: int, path: str, start: AffineOutput | None = None
    ) -> None:
        super().__init__(config, input_size, path, start)
        agree(config.output_size, width, f"{path}.output_size")
        self.head = head(config, self.hidden_size, width, path)
        self.activation = activation(config.activation)
        self.multiplier = config.multiplier
        self.clip = config.clip

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        values = self.started(self.head(hidden))
        if self.activation is not None:
            values = self.activation(values)
        if self.multiplier != 1.0:
            values = values * self.multiplier
        return values if self.clip is None else values.clamp(*self.clip)
