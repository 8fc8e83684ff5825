"""Metrics of the order of scores: exact, ties included, in whole numbers until the last division."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]
Flags = npt.NDArray[np.bool_]

BITS = 34
"""Of a score's 53 so many count: equal rows get other last bits in batches of other sizes, and are still a tie."""


def roc_auc(scores: Floats, positive: Flags) -> float | None:
    """The share of pairs (a positive, a negative) in which the positive scores higher; a tie counts half.

    None where one of the two is missing.
    """
    scores = told_apart(scores)
    up, down = np.sort(scores[positive]), np.sort(scores[~positive])
    if not len(up) or not len(down):
        return None
    # Twice the number of pairs won: those strictly won and those not lost.
    twice = sum(int(np.searchsorted(down, up, side).sum(dtype=np.int64)) for side in ("left", "right"))
    return twice / (2 * len(up) * len(down))


def roc_points(scores: Floats, positive: Flags) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """False and true positives at every threshold, from none to all: one point for each distinct score, and (0, 0)."""
    scores = told_apart(scores)
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    true = np.cumsum(positive[order], dtype=np.int64)[ends]
    return np.append(0, ends + 1 - true), np.append(0, true)


def told_apart(scores: Floats) -> Floats:
    """The scores to ten digits. Those of float32 have fewer, and stay."""
    if np.finfo(scores.dtype).nmant < BITS:
        return scores
    mantissa, exponent = np.frexp(scores)
    settled: Floats = np.ldexp(np.round(np.ldexp(mantissa, BITS)), exponent - BITS)
    return settled
