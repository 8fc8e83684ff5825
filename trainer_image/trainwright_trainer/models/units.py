"""Conversion of logits to probabilities and to values in the target's own units, in float64.

Metrics and predictions both use these functions, so metrics judge exactly the values that predictions contain. The
metrics of numbers and binaries compute the same with torch, up to the last bit, because a GPU folds their rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from trainwright_api.config.features import NumberOutput, VectorOutput
from trainwright_trainer.features import number

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


def numbers(feature: NumberOutput | None, statistics: Mapping[str, Any], encoded: Array) -> Floats:
    """Encoded numbers [rows] in the target's own units, clipped to `feature.clip` if it is set."""
    values = number.decode(encoded, statistics)
    return values if feature is None or feature.clip is None else np.clip(values, *feature.clip)


def probability(logits: Array) -> Floats:
    """The probability of log-odds, elementwise: 1 / (1 + e⁻ᶻ), without overflow."""
    small = np.exp(-np.abs(logits.astype(np.float64)))
    found: Floats = np.where(logits >= 0, 1.0, small) / (1.0 + small)
    return found


def softmax(logits: Array) -> Floats:
    """Probabilities from unscaled log-probabilities [rows, …, classes]; they sum to 1 over the classes."""
    wide = logits.astype(np.float64)
    powers = np.exp(wide - wide.max(-1, keepdims=True))
    shares: Floats = powers / powers.sum(-1, keepdims=True)
    return shares


def vectors(feature: VectorOutput, logits: Array) -> Floats:
    """Predicted vectors [rows, size]."""
    return softmax(logits) if softmax_waits(feature) else logits.astype(np.float64)


def softmax_waits(feature: VectorOutput) -> bool:
    """True if the decoder leaves the softmax out, because the loss is softmax cross entropy. Predictions have it."""
    return feature.softmax and feature.loss.type == "softmax_cross_entropy"
