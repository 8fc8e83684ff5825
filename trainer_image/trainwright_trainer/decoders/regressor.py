"""The decoder of one value a row: a number in normalised units, or the log-odds of a binary."""

from __future__ import annotations

import torch

from trainwright_api.config.decoders import RegressorDecoder
from trainwright_trainer.decoders.affine_output import AffineOutput
from trainwright_trainer.decoders.base import Decoder, head


class Regressor(Decoder):
    """→ [rows, 1]."""

    def __init__(
        self, config: RegressorDecoder, input_size: int, width: int, path: str, start: AffineOutput | None = None
    ) -> None:
        super().__init__(config, input_size, path, start)
        self.head = head(config, self.hidden_size, width, path)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.started(self.head(hidden))
