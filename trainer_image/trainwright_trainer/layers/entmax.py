"""Sparse alternatives to softmax: sparsemax, and entmax with 1 < alpha ≤ 2. Sparsemax is entmax with alpha 2.

entmax(z) = [(alpha - 1) · z - t]₊ ^ (1 / (alpha - 1)), with the threshold t that makes the sum 1.

Sources: Martins, Astudillo, "From softmax to sparsemax", 2016; Peters, Niculae, Martins, "Sparse sequence-to-sequence
models", 2019 (thresholds by sorting for alpha 1.5, by bisection for any alpha); Correia, Niculae, Martins, "Adaptively
sparse transformers", 2019 (a learnt alpha).
"""

from __future__ import annotations

import math

import torch
from torch import nn

_BISECTIONS = 30
# With a smaller alpha - 1 the power 1 / (alpha - 1) has too few digits; the result is nearly softmax.
_LEAST = 0.01
_Alpha = float | torch.Tensor


def sparsemax(scores: torch.Tensor) -> torch.Tensor:
    """[rows, n] → [rows, n]; each row is at least 0 and sums to 1."""
    scaled = _from_largest(scores)
    return _with_threshold(scaled, _threshold_of_sparsemax(scaled.detach()), 1.0)


def entmax15(scores: torch.Tensor) -> torch.Tensor:
    """Entmax with alpha 1.5: [rows, n] → [rows, n]."""
    scaled = _from_largest(scores) / 2
    return _with_threshold(scaled, _threshold_of_entmax15(scaled.detach()), 2.0)


def entmax(scores: torch.Tensor, alpha: _Alpha) -> torch.Tensor:
    """[rows, n] → [rows, n]. `alpha`: from 1 (softmax) to 2 (sparsemax), or a tensor [1] between them."""
    if not isinstance(alpha, torch.Tensor) and alpha == 1:
        return torch.softmax(scores, -1)
    scaled, power = _from_largest(scores) * (alpha - 1), 1 / (alpha - 1)
    with torch.no_grad():
        threshold = _threshold_by_bisection(scaled, power)
    return _with_threshold(scaled, threshold, power)


class AdaptiveEntmax(nn.Module):
    """Entmax with a learnt alpha between 1 and 2, which begins at `alpha`: [rows, n] → [rows, n]."""

    def __init__(self, alpha: float) -> None:
        super().__init__()
        with torch.device("cpu"):  # the initial value is a constant, so it need not be drawn later
            self.log_odds = nn.Parameter(torch.tensor([math.log((alpha - 1) / (2 - alpha))]))

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        return entmax(scores, 1 + torch.sigmoid(self.log_odds).clamp(min=_LEAST))


def _from_largest(scores: torch.Tensor) -> torch.Tensor:
    """The scores minus the largest of their row. That changes no result, and keeps thresholds between -1 and 0."""
    return scores - scores.amax(-1, keepdim=True)


def _with_threshold(scaled: torch.Tensor, threshold: torch.Tensor, power: _Alpha) -> torch.Tensor:
    """The result for a threshold without gradient. One step of Newton's method gives it the gradient of the exact one,
    and removes most of its rounding error."""
    left = scaled - threshold
    slope = (power * _power(left, power - 1)).sum(-1, keepdim=True).detach()
    exact = threshold + (_power(left, power).sum(-1, keepdim=True) - 1) / slope
    return _power(scaled - exact, power)


def _power(values: torch.Tensor, power: _Alpha) -> torch.Tensor:
    """values ^ power where a value is above 0, elsewhere 0, also in the gradients."""
    positive = values > 0
    return torch.where(positive, torch.where(positive, values, 1) ** power, 0)


def _threshold_of_sparsemax(scaled: torch.Tensor) -> torch.Tensor:
    ordered = scaled.sort(-1, descending=True).values
    sums = ordered.cumsum(-1) - 1
    return _last(sums / _counts(scaled), ordered * _counts(scaled) > sums)


def _threshold_of_entmax15(scaled: torch.Tensor) -> torch.Tensor:
    ordered, counts = scaled.sort(-1, descending=True).values, _counts(scaled)
    mean = ordered.cumsum(-1) / counts
    variance = ordered.square().cumsum(-1) / counts - mean.square()
    thresholds = mean - (1 / counts - variance).clamp(min=0).sqrt()
    return _last(thresholds, thresholds <= ordered)


def _threshold_by_bisection(scaled: torch.Tensor, power: _Alpha) -> torch.Tensor:
    low = torch.full_like(scaled[..., :1], -1.0)  # the largest term alone is 1
    width = torch.ones_like(low)
    for _ in range(_BISECTIONS):
        width = width / 2
        too_low = _power(scaled - low - width, power).sum(-1, keepdim=True) >= 1
        low = torch.where(too_low, low + width, low)
    return low


def _counts(scaled: torch.Tensor) -> torch.Tensor:
    """1, 2, … n, in the dtype of `scaled`."""
    return torch.arange(1, scaled.shape[-1] + 1, dtype=scaled.dtype, device=scaled.device)


def _last(thresholds: torch.Tensor, belongs: torch.Tensor) -> torch.Tensor:
    """The threshold of the last place that belongs to the support. The first place always does."""
    return thresholds.gather(-1, (belongs.sum(-1, keepdim=True) - 1).clamp(min=0))
