"""Metrics of the order of scores. They are exact, ties included: integers until the last division.

For states that cannot keep every score there is a histogram, whose ROC-AUC is within 1e-4 of the exact one.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import torch

Floats = npt.NDArray[np.floating]
Flags = npt.NDArray[np.bool_]

BINS = 1 << 14
_NARROW, _WIDEST = 1e-3, 30.0

BITS = 34
"""The bits of a float64 score that are compared. Equal rows get different last bits in batches of different sizes and
must still be a tie."""


def roc_auc(scores: Floats, positive: Flags) -> float | None:
    """The share of pairs (a positive, a negative) in which the positive scores higher; a tie counts half.

    None if there is no positive or no negative.
    """
    scores = told_apart(scores)
    up, down = np.sort(scores[positive]), np.sort(scores[~positive])
    if not len(up) or not len(down):
        return None
    # Twice the number of pairs won, where a tie is half a win: the pairs with > plus the pairs with >=.
    twice = sum(int(np.searchsorted(down, up, side).sum(dtype=np.int64)) for side in ("left", "right"))
    return twice / (2 * len(up) * len(down))


def histogram(scores: torch.Tensor, positive: torch.Tensor, center: float) -> torch.Tensor:
    """int64 [2, BINS], on the device of the scores: the positives and the negatives in each bin of the scores.

    The bins are narrow around `center` (1e-6) and grow with the distance from it (a thousandth of it), so they separate
    the scores of an untrained model and those of a trained one. The outermost bins hold everything beyond ±30.
    """
    place = torch.arcsinh((scores.double() - center) / _NARROW) / math.asinh(_WIDEST / _NARROW)
    index = ((place + 1) / 2 * BINS).long().clamp(0, BINS - 1)
    return counts(index + BINS * ~positive, 2 * BINS).reshape(2, BINS)


def counts(index: torch.Tensor, size: int) -> torch.Tensor:
    """int64 [size]: how often each number occurs in `index`, int64 [n]. `torch.bincount` would wait for a GPU."""
    if index.is_cpu:
        return torch.bincount(index, minlength=size)
    return index.new_zeros(size).scatter_add_(0, index, torch.ones_like(index))


def roc_auc_of_histogram(up: npt.NDArray[np.int64], down: npt.NDArray[np.int64]) -> float | None:
    """ROC-AUC where all scores of a bin are ties. `up`, `down`: positives and negatives by bin, from low to high."""
    positives, negatives = int(up.sum()), int(down.sum())
    if not positives or not negatives:
        return None
    below = np.cumsum(down) - down
    return float(np.sum(up.astype(np.float64) * (2 * below + down))) / (2 * positives * negatives)


def roc_points(scores: Floats, positive: Flags) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The numbers of false and true positives at each threshold: (0, 0), then one point for each distinct score."""
    scores = told_apart(scores)
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    true = np.cumsum(positive[order], dtype=np.int64)[ends]
    return np.append(0, ends + 1 - true), np.append(0, true)


def told_apart(scores: Floats) -> Floats:
    """The scores rounded to `BITS` bits, about ten digits. Scores in float32 have fewer bits and stay unchanged."""
    if np.finfo(scores.dtype).nmant < BITS:
        return scores
    mantissa, exponent = np.frexp(scores)
    settled: Floats = np.ldexp(np.round(np.ldexp(mantissa, BITS)), exponent - BITS)
    return settled
