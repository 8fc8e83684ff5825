"""The two transformers of a step of TabNet.

Source: Arik, Pfister, "TabNet: attentive interpretable tabular learning", 2019, figure 4, with Ludwig's variations.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from trainwright_trainer.layers.fully_connected import Linear, linear
from trainwright_trainer.layers.model_block import ModelBlock

NewNorm = Callable[[int], nn.Module]
"""Makes the norm of a number of columns."""
Attention = Callable[[torch.Tensor], torch.Tensor]
"""Scores [rows, n] → a distribution in each row, [rows, n]."""


def gated_layers(input_size: int, width: int, places: range) -> nn.ModuleList:
    """The linear layers at these places of a feature transformer. The first place takes its input."""
    return nn.ModuleList(_layer(width if place else input_size, 2 * width) for place in places)


class FeatureTransformer(ModelBlock):
    """[rows, input_size] → [rows, width]: linear layers, each with a norm and a gated linear unit.

    The result of each layer but the first is added to its input. `shared` are the first layers: other feature
    transformers have them too, each with norms of its own. They belong to the parent module.
    """

    def __init__(self, shared: nn.ModuleList, own: nn.ModuleList, width: int, new_norm: NewNorm) -> None:
        super().__init__()
        self._shared = tuple(shared)  # a tuple is not registered
        self.own = own
        self.norms = nn.ModuleList(new_norm(2 * width) for _ in (*shared, *own))

    def compute(self, rows: torch.Tensor) -> torch.Tensor:
        for place, (layer, norm) in enumerate(zip((*self._shared, *self.own), self.norms, strict=True)):
            gated = F.glu(norm(layer(rows)), dim=-1)
            rows = (rows + gated) * math.sqrt(0.5) if place else gated
        return rows


class AttentiveTransformer(ModelBlock):
    """hidden [rows, size], prior [rows, columns] → the mask of a step: [rows, columns], each row sums to 1.

    The prior is the part of each column that earlier steps have left. `attention` gets float32 at least, because half
    precision has too few digits for the sums of a threshold.
    """

    def __init__(self, size: int, columns: int, new_norm: NewNorm, attention: Attention) -> None:
        super().__init__()
        self.layer = _layer(size, columns)
        self.norm = new_norm(columns)
        self.attention = attention

    def compute(self, hidden: torch.Tensor, prior: torch.Tensor) -> torch.Tensor:
        scores = self.norm(self.layer(hidden)) * prior
        wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
        return self.attention(wide).to(scores.dtype)


def _layer(input_size: int, output_size: int) -> Linear:
    """A linear layer without bias, because a norm follows."""
    return linear(input_size, output_size, use_bias=False)
