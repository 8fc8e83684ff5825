"""The start of an output: an affine last step with constants from the statistics of the training rows.

number, vector   values · standard deviation + mean, in the units in which the target is encoded
binary           log-odds + the log-odds of the share of true (of the sample, where classes are balanced)
category         scores + the logarithm of each class's share
sequence, text   scores + the logarithm of each token's share of the tokens, and of the end's
set              log-odds + those of each token's share of the rows

It sets the prediction of the untrained model, and the layers before it learn values of about one for any unit of the
target. It has no parameters: no optimizer, penalty or initializer changes it. Its buffers are part of the state, so
they are in every checkpoint and in the saved model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from trainwright_api.config.features import OutputFeature, VectorOutput
from trainwright_trainer.features.binary import log_odds


class AffineOutput(nn.Module):
    """values [rows, width] → values · scale + shift, float32 [width] each. `spread` is the root mean square of `scale`.

    `scale` and `spread` are None if the scale is 1.
    """

    scale: torch.Tensor | None
    shift: torch.Tensor

    def __init__(self, shift: Sequence[float], scale: Sequence[float] | None = None) -> None:
        super().__init__()
        self.spread = None if scale is None else math.sqrt(sum(one * one for one in scale) / len(scale))
        with torch.device("cpu"):
            self.register_buffer("shift", torch.tensor(shift, dtype=torch.float32))
            self.register_buffer("scale", None if scale is None else torch.tensor(scale, dtype=torch.float32))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return values + self.shift if self.scale is None else torch.addcmul(self.shift, values, self.scale)


def affine_output_of(feature: OutputFeature, statistics: Mapping[str, Any]) -> AffineOutput | None:
    """The start of an output. None if the config shapes the output itself: a passthrough decoder, or a vector with an
    activation, a multiplier, a softmax or softmax cross entropy."""
    if feature.decoder.type == "passthrough":
        return None
    if feature.type == "number":
        encoded = statistics["encoded"]
        return AffineOutput([encoded["mean"]], [encoded["std"] or 1.0])
    if feature.type == "binary":
        return AffineOutput([log_odds(statistics)])
    if feature.type == "category":
        return AffineOutput(_log_shares(statistics["counts"]))
    if feature.type in ("sequence", "text"):
        ends = [present_rows(statistics)] if feature.decoder.type == "generator" else []
        return AffineOutput(_log_shares([*statistics["counts"], *ends]))
    if feature.type == "set":
        return AffineOutput(_token_odds(statistics))
    if isinstance(feature, VectorOutput) and not _shaped(feature):
        return AffineOutput(statistics["mean"], [std or 1.0 for std in statistics["std"]])
    return None


def _log_shares(counts: Sequence[int]) -> list[float]:
    """The logarithms of the classes' shares. Each class counts one row more, so that a class without rows (such as
    unknown values) has a finite logarithm."""
    rows = sum(counts) + len(counts)
    return [math.log((count + 1) / rows) for count in counts]


def _token_odds(statistics: Mapping[str, Any]) -> list[float]:
    """The log-odds of the tokens' shares of the rows. Each token counts one row more on both sides, so that all are
    finite."""
    rows = present_rows(statistics)
    # The unknown token counts once for each rare token of a row.
    shares = [min(count, rows) for count in statistics["counts"]]
    return [math.log((count + 1) / (rows - count + 1)) for count in shares]


def present_rows(statistics: Mapping[str, Any]) -> int:
    """The training rows of a column of tokens that are not dropped for want of a value."""
    return int(statistics["rows"]) - (statistics["missing"] if statistics["fill"] is None else 0)


def _shaped(feature: VectorOutput) -> bool:
    decoder = feature.decoder
    own = getattr(decoder, "activation", None) is not None or getattr(decoder, "multiplier", 1.0) != 1.0
    return own or feature.softmax or feature.loss.type == "softmax_cross_entropy"
