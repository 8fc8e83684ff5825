"""Metrics of sequences, with Ludwig's names.

`token_accuracy` is the share of all tokens that are right, `sequence_accuracy` the share of rows whose tokens are all
right, `perplexity` the exponential of the mean negative log-likelihood of a token. A generator is judged with the true
tokens before each token. Its `sequence_accuracy` is that of the generated sequences all the same: where all of them are
the likeliest, generation takes the same ones.

`last_accuracy` is the share of rows whose last token is right, among the rows that have a token. `edit_distance` is the
mean over the rows of the edit distance, divided by the number of true tokens (1 for a row without tokens). Both leave
the end of a generated sequence out. Training steps leave out the edit distance, which takes a step for each token.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from trainwright_trainer.metrics.base import AnySums, Array, OutputMetrics, Sums
from trainwright_trainer.metrics.category import places
from trainwright_trainer.metrics.edit_distance import edit_distances

_SUMS = ("tokens", "right", "whole", "surprise", "frequent", "last_right", "last", "distance")


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
        self._end = len(statistics["vocabulary"]) if has_end else None
        self.draws = keeps and not has_end
        self.shown, self._place, self.tokens_in_last = places(statistics)

    needs_cpu = False

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
            *self._last(right, counts),
        ]
        if not self.running:
            found.append(self._distances(predicted, targets).to(targets.device))
        if self.draws:
            self._draw(predicted[counts].cpu().numpy(), targets[counts].cpu().numpy())
        super().update(torch.stack([one.double() for one in found], 1), targets[:, 0], losses)

    def fold(self, logits: torch.Tensor, targets: torch.Tensor) -> AnySums:  # noqa: ARG002
        """`logits`: the sums of each row; in training steps without the last one."""
        return dict(zip(_SUMS, logits.sum(0), strict=False))

    def scores(self, sums: Sums) -> dict[str, float]:
        tokens, last = self.weight(sums), int(sums["last"])
        more = {"last_accuracy": float(sums["last_right"]) / last} if last else {}
        if not self.running:
            more["edit_distance"] = float(sums["distance"]) / int(sums["rows"])
        return {
            "token_accuracy": float(sums["right"]) / tokens,
            "sequence_accuracy": float(sums["whole"]) / int(sums["rows"]),
            "perplexity": math.exp(min(float(sums["surprise"]) / tokens, 700.0)),
            **more,
        }

    def weight(self, sums: Sums) -> int:
        """The number of tokens."""
        return max(int(sums["tokens"]), 1)

    def _last(self, right: torch.Tensor, counts: torch.Tensor) -> list[torch.Tensor]:
        """[rows] each: True where the last token is right, and where there is one. The end is no token."""
        place = counts.sum(1) - (1 if self._end is None else 2)
        known = place >= 0
        return [right.gather(1, place.clamp(min=0).unsqueeze(1)).squeeze(1) & known, known]

    def _distances(self, predicted: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """float64 [rows]. A predicted sequence ends with the first end, or is as long as the true one."""
        found, true = predicted.cpu().numpy(), targets.cpu().numpy()
        lengths = found_lengths = (true >= 0).sum(1)
        if self._end is not None:
            ends = np.where(np.arange(found.shape[1]) < lengths[:, None], found == self._end, True)
            ends = np.concatenate([ends, np.ones((len(ends), 1), np.bool_)], 1)
            lengths, found_lengths = lengths - 1, ends.argmax(1)
        distances = edit_distances(found, found_lengths, true, lengths)
        return torch.from_numpy(distances / np.maximum(lengths, 1))

    def _draw(self, predicted: Array, targets: Array) -> None:
        shown = len(self.shown)
        cells = np.bincount(self._place[targets] * shown + self._place[predicted], minlength=shown * shown)
        self._add({"confusion": cells.reshape(shown, shown)})
