"""Metrics of sequences, with Ludwig's names.

`token_accuracy` is the share of all tokens that are right, `sequence_accuracy` the share of rows whose tokens are all
right, `perplexity` the exponential of the mean negative log-likelihood of a token. A generator is judged with the true
tokens before each token. Its `sequence_accuracy` is that of the generated sequences all the same: where all of them are
the likeliest, generation takes the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from trainwright_trainer.metrics.base import Array, OutputMetrics, Sums
from trainwright_trainer.metrics.category import places

_SUMS = ("tokens", "right", "whole", "surprise", "frequent")


class SequenceMetrics(OutputMetrics):
    """Logits are [rows, length, tokens], targets int64 [rows, length], negative where a row has no token.

    The state holds sums of each row alone, which are computed on the device. With `keeps` there is also the confusion
    matrix of the most frequent tokens.
    """

    def __init__(self, feature: Any, statistics: Mapping[str, Any], *, keeps: bool, running: bool) -> None:
        super().__init__(feature, statistics, keeps=False, running=running)
        has_end = feature.decoder.type == "generator"
        # A generated sequence has one end, so the most frequent token can be the end.
        counts = [*statistics["counts"], *([statistics["rows"]] if has_end else [])]
        self._frequent = int(np.argmax(counts))
        self.draws = keeps and not has_end
        self.shown, self._place, self.tokens_in_last = places(statistics)

    def update(self, logits: torch.Tensor, targets: torch.Tensor, losses: torch.Tensor) -> None:
        counts = targets >= 0
        predicted = logits.detach().argmax(2)
        right = (predicted == targets) & counts
        own = torch.log_softmax(logits.detach().double(), 2).gather(2, targets.clamp(min=0).unsqueeze(2)).squeeze(2)
        found = [
            counts.sum(1),
            right.sum(1),
            (right | ~counts).all(1),
            -torch.where(counts, own, 0.0).sum(1),
            ((targets == self._frequent) & counts).sum(1),
        ]
        if self.draws:
            self._draw(predicted[counts].cpu().numpy(), targets[counts].cpu().numpy())
        super().update(torch.stack([one.double() for one in found], 1), targets[:, 0], losses)

    def fold(self, logits: Array, targets: Array) -> Sums:  # noqa: ARG002
        """`logits`: the sums of each row."""
        return dict(zip(_SUMS, logits.sum(0), strict=True))

    def scores(self, sums: Sums) -> dict[str, float]:
        tokens = self.weight(sums)
        return {
            "token_accuracy": float(sums["right"]) / tokens,
            "sequence_accuracy": float(sums["whole"]) / int(sums["rows"]),
            "perplexity": math.exp(min(float(sums["surprise"]) / tokens, 700.0)),
        }

    def weight(self, sums: Sums) -> int:
        """The number of tokens."""
        return max(int(sums["tokens"]), 1)

    def _draw(self, predicted: Array, targets: Array) -> None:
        shown = len(self.shown)
        cells = np.bincount(self._place[targets] * shown + self._place[predicted], minlength=shown * shown)
        self._add({"confusion": cells.reshape(shown, shown)})
