"""Cross entropy of one class out of several, from unscaled log-probabilities.

The options follow Ludwig's documentation: `class_weights` multiply each class's term; `robust_lambda` gives
(1 - λ) · loss + λ / c with c classes; `confidence_penalty` adds a · (max_entropy - entropy) / max_entropy. With a
temperature above zero, softmax(class_similarities[k] / temperature) replaces a target of class k; targets that are
shares are multiplied by the same matrix. (Ludwig's code since 0.5 supports the weights only.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F

from trainwright_api.config.losses import SequenceSoftmaxCrossEntropy
from trainwright_api.config.losses import SoftmaxCrossEntropy as Config
from trainwright_api.problems import Mistakes
from trainwright_trainer.losses.base import Loss
from trainwright_trainer.losses.class_weights import class_weights


class SoftmaxCrossEntropy(Loss):
    """logits [rows, classes]; targets int64 [rows], or shares [rows, classes] → [rows]"""

    weights: torch.Tensor | None
    similarities: torch.Tensor | None

    def __init__(self, config: Config | SequenceSoftmaxCrossEntropy, labels: Sequence[str], path: str) -> None:
        super().__init__(config.weight)
        self.classes = len(labels)
        self.register_buffer("weights", class_weights(config.class_weights, labels, path), persistent=False)
        self.register_buffer("similarities", _supervision(config, self.classes, path), persistent=False)
        self.robust_lambda = config.robust_lambda
        self.confidence_penalty = config.confidence_penalty

    def rows(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        if self.similarities is not None:
            targets = self.similarities[targets] if targets.ndim == 1 else targets @ self.similarities
        loss = F.cross_entropy(logits, targets, weight=self.weights, reduction="none")
        if self.robust_lambda:
            loss = (1 - self.robust_lambda) * loss + self.robust_lambda / self.classes
        if self.confidence_penalty:
            logarithms = F.log_softmax(logits, 1)
            entropy = -(logarithms.exp() * logarithms).sum(1)
            loss = loss + self.confidence_penalty * (1 - entropy / math.log(self.classes))
        return loss


def _supervision(config: Config | SequenceSoftmaxCrossEntropy, classes: int, path: str) -> torch.Tensor | None:
    """float64 [classes, classes]; row k holds the shares that replace a target of class k. None if temperature is 0.

    Raises `Mistakes` if the similarities are missing or have the wrong shape.
    """
    given, temperature = config.class_similarities, config.class_similarities_temperature
    if not temperature:
        return None
    if given is None:
        raise Mistakes.one(f"{path}.class_similarities_temperature", "acts on class_similarities, and there are none.")
    if len(given) != classes or any(len(row) != classes for row in given):
        found = f"is not {classes} rows of {classes} numbers, one for each class of the target"
        raise Mistakes.one(f"{path}.class_similarities", f"{found}.")
    return torch.softmax(torch.tensor(given, dtype=torch.float64) / temperature, 1)
