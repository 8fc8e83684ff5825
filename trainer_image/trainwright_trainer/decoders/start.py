"""What an output predicts before anything is learnt: an affine last step, fixed by statistics of the training rows.

number, vector   values · standard deviation + mean, in the units in which the target is encoded
binary           log-odds + the log-odds of the share of true
category         scores + the logarithm of each class's share

So the layers before it learn values of about one, whatever the target's unit. The step is no parameter: no optimizer,
no penalty and no initializer touches it. It is part of the state, hence of every checkpoint and of the saved model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from trainwright_api.config.features import OutputFeature, VectorOutput


class Start(nn.Module):
    """values [rows, width] → values · scale + shift. `scale` is None where it is one, and so is its size, `spread`."""

    scale: torch.Tensor | None
    shift: torch.Tensor

    def __init__(self, shift: Sequence[float], scale: Sequence[float] | None = None) -> None:
        super().__init__()
        self.spread = None if scale is None else math.sqrt(sum(one * one for one in scale) / len(scale))
        self.register_buffer("shift", torch.tensor(shift, dtype=torch.float32))
        self.register_buffer("scale", None if scale is None else torch.tensor(scale, dtype=torch.float32))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return values + self.shift if self.scale is None else torch.addcmul(self.shift, values, self.scale)


def start_of(feature: OutputFeature, statistics: Mapping[str, Any]) -> Start | None:
    """None where the config shapes the output itself: a passthrough decoder, or a vector with an activation, a
    multiplier or a softmax."""
    if feature.decoder.type == "passthrough":
        return None
    if feature.type == "number":
        encoded = statistics["encoded"]
        return Start([encoded["mean"]], [encoded["std"] or 1.0])
    if feature.type == "binary":
        false, true = statistics["counts"]
        return Start([math.log(true + 1) - math.log(false + 1)])
    if feature.type == "category":
        return Start(_log_shares(statistics["counts"]))
    if isinstance(feature, VectorOutput) and not _shaped(feature):
        return Start(statistics["mean"], [std or 1.0 for std in statistics["std"]])
    return None


def _log_shares(counts: Sequence[int]) -> list[float]:
    """One row more for each class, so that a class without any (all that is unknown) has a finite logarithm."""
    rows = sum(counts) + len(counts)
    return [math.log((count + 1) / rows) for count in counts]


def _shaped(feature: VectorOutput) -> bool:
    decoder = feature.decoder
    own = getattr(decoder, "activation", None) is not None or getattr(decoder, "multiplier", 1.0) != 1.0
    return own or feature.softmax or feature.loss.type == "softmax_cross_entropy"
