"""The decoder of one score for each class."""

from __future__ import annotations

import torch

from trainwright_api.config.decoders import ClassifierDecoder
from trainwright_trainer.decoders.affine_output import AffineOutput
from trainwright_trainer.decoders.base import Decoder, agree, head


class Classifier(Decoder):
    """→ [rows, classes], unscaled log-probabilities."""

    def __init__(
        self, config: ClassifierDecoder, input_size: int, width: int, path: str, start: AffineOutput | None = None
    ) -> None:
        super().__init__(config, input_size, path, start)
        agree(config.num_classes, width, f"{path}.num_classes")
        self.head = head(config, self.hidden_size, width, path)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.started(self.head(hidden))
