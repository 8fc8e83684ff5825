"""From logits to what they mean: probabilities, labels, values in the target's own units. In float64.

Metrics and predictions both read logits here, so a prediction is judged as it is written.
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
    """Encoded numbers [rows] in the target's own units; predictions of `feature` are clipped as it says."""
    values = number.decode(encoded, statistics)
    return values if feature is None or feature.clip is None else np.clip(values, *feature.clip)


def probability(logits: Array) -> Floats:
    """Of log-odds, elementwise: 1 / (1 + e⁻ᶻ), without overflow."""
    small = np.exp(-np.abs(logits.astype(np.float64)))
    found: Floats = np.where(logits >= 0, 1.0, small) / (1.0 + small)
    return found


def softmax(logits: Array) -> Floats:
    """Of unscaled log-probabilities [rows, classes]: each row sums to 1."""
    wide = logits.astype(np.float64)
    powers = np.exp(wide - wide.max(1, keepdims=True))
    shares: Floats = powers / powers.sum(1, keepdims=True)
    return shares


def vectors(feature: VectorOutput, logits: Array) -> Floats:
    """Predicted vectors [rows, size]. The softmax of an output with its own cross entropy is still to be taken."""
    waits = feature.softmax and feature.loss.type == "softmax_cross_entropy"
    return softmax(logits) if waits else logits.astype(np.float64)
