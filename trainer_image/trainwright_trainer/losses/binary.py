"""Binary cross entropy, from log-odds.

The options follow Ludwig's documentation: `positive_class_weight` multiplies the loss of rows whose target is true;
`robust_lambda` gives (1 - λ) · loss + λ / 2; `confidence_penalty` adds a · (max_entropy - entropy) / max_entropy.
(Ludwig's code takes the entropy over the batch and over one of the two classes; ours takes each row's own.)
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from trainwright_api.config.losses import BinaryWeightedCrossEntropy as Config
from trainwright_trainer.losses.base import Loss


class BinaryWeightedCrossEntropy(Loss):
    """logits [rows], targets [rows] of 0 and 1 → [rows]"""

    positive: torch.Tensor | None

    def __init__(self, config: Config) -> None:
        super().__init__(config.weight)
        weight = config.positive_class_weight
        factor = None if weight is None else torch.tensor(weight, dtype=torch.float64)
        self.register_buffer("positive", factor, persistent=False)
        self.robust_lambda = config.robust_lambda
        self.confidence_penalty = config.confidence_penalty

    def rows(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        loss = F.binary_cross_entropy_with_logits(logits, targets, reduction="none", pos_weight=self.positive)
        if self.robust_lambda:
            loss = (1 - self.robust_lambda) * loss + self.robust_lambda / 2
        if self.confidence_penalty:
            # The entropy of p = sigmoid(z), -p log p - (1 - p) log(1 - p), without taking the logarithm of a zero.
            entropy = F.softplus(logits) - logits * torch.sigmoid(logits)
            loss = loss + self.confidence_penalty * (1 - entropy / math.log(2))
        return loss
