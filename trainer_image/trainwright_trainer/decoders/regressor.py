"""One number a row: a number's value in normalised units, or the log-odds of a binary."""

from __future__ import annotations

import torch

from trainwright_api.config.decoders import RegressorDecoder
from trainwright_trainer.decoders.base import Decoder, head


class Regressor(Decoder):
    """→ [rows, 1]."""

    def __init__(self, config: RegressorDecoder, input_size: int, width: int, path: str) -> None:
        super().__init__(config, input_size, path)
        self.head = head(config, self.hidden_size, width, path)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.head(hidden)
        return logits
