"""One score for each class."""

from __future__ import annotations

import torch

from trainwright_api.config.decoders import ClassifierDecoder
from trainwright_trainer.decoders.base import Decoder, agree, head


class Classifier(Decoder):
    """→ [rows, classes], unscaled log-probabilities."""

    def __init__(self, config: ClassifierDecoder, input_size: int, width: int, path: str) -> None:
        super().__init__(config, input_size, path)
        agree(config.num_classes, width, f"{path}.num_classes")
        self.head = head(config, self.hidden_size, width, path)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.head(hidden)
        return logits
