"""Binary cross entropy of each token of a set, from its log-odds.

As Ludwig documents it, `class_weights` multiply each token's term. (Ludwig's code multiplies the terms of the tokens
that are in the set alone.)
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F

from trainwright_api.config.losses import SigmoidCrossEntropy as Config
from trainwright_trainer.losses.base import Loss
from trainwright_trainer.losses.class_weights import class_weights


class SigmoidCrossEntropy(Loss):
    """logits [rows, tokens]; targets of 0 and 1 of the same shape → [rows]: the mean over the tokens"""

    weights: torch.Tensor | None

    def __init__(self, config: Config, labels: Sequence[str], path: str) -> None:
        super().__init__(config.weight)
        self.register_buffer("weights", class_weights(config.class_weights, labels, path), persistent=False)

    def rows(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.binary_cross_entropy_with_logits(logits, targets, weight=self.weights, reduction="none").mean(1)
