"""Cross entropy of the tokens of a sequence: that of classes, for each token. A row has the sum over its tokens."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from trainwright_api.config.losses import SequenceSoftmaxCrossEntropy as Config
from trainwright_trainer.losses.base import Loss
from trainwright_trainer.losses.softmax import SoftmaxCrossEntropy


class SequenceSoftmaxCrossEntropy(Loss):
    """logits [rows, length, tokens]; targets int64 [rows, length], negative where a row has no token → [rows]"""

    counts_tokens = True

    def __init__(self, config: Config, labels: Sequence[str], path: str) -> None:
        super().__init__(config.weight)
        self.of_token = SoftmaxCrossEntropy(config, labels, path)

    def rows(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        terms = self.of_token.rows(logits.flatten(0, 1), targets.clamp(min=0).flatten()).view_as(targets)
        return torch.where(targets >= 0, terms, 0.0).sum(1)
