"""TabNet: in each step an attention selects some columns, and a feature transformer processes them.

Source: Arik, Pfister, "TabNet: attentive interpretable tabular learning", 2019. As in Ludwig, `size` is the width of
the part that the next attention reads (N_a in the paper), `output_size` that of the part that is added up (N_d), a
linear layer follows the sum, and the first norm takes whole batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import nn

from trainwright_api.config.combiners.tabnet import TabNetCombiner
from trainwright_trainer.combiners.base import Combined, Combiner, CombinerInput
from trainwright_trainer.layers.batch_norm import BatchNorm
from trainwright_trainer.layers.entmax import AdaptiveEntmax, entmax, entmax15, sparsemax
from trainwright_trainer.layers.fully_connected import linear
from trainwright_trainer.layers.ghost_norm import GhostNorm
from trainwright_trainer.layers.linear_products import side_by_side
from trainwright_trainer.layers.tabnet import Attention, AttentiveTransformer, FeatureTransformer, gated_layers

# The constant in the logarithm of the sparsity penalty, in the paper and in Ludwig.
_EPSILON = 1e-5


class TabNet(Combiner):
    """[rows, w₁], [rows, w₂], … → [rows, output_size]. In training, the penalty of a row is `sparsity` times the mean
    entropy of its masks."""

    def __init__(self, config: TabNetCombiner, inputs: Sequence[CombinerInput], path: str) -> None:  # noqa: ARG002
        super().__init__()
        columns, width = sum(one.width for one in inputs), config.size + config.output_size
        self.output_size = config.output_size
        self._relaxation, self._sparsity = config.relaxation_factor, config.sparsity
        self.norm = _norm(config, columns, virtual_rows=None)
        new_norm = partial(_norm, config, virtual_rows=config.bn_virtual_bs)
        shared, own = range(config.num_shared_blocks), range(config.num_shared_blocks, config.num_total_blocks)
        self.shared = gated_layers(columns, width, shared)
        transformers = range(config.num_steps + 1)
        self.features = nn.ModuleList(
            FeatureTransformer(self.shared, gated_layers(columns, width, own), width, new_norm) for _ in transformers
        )
        self.attentions = nn.ModuleList(
            AttentiveTransformer(config.size, columns, new_norm, _attention(config)) for _ in transformers[1:]
        )
        self.projection = linear(self.output_size, self.output_size)
        self.dropout = nn.Dropout(config.dropout) if config.dropout else None

    def forward(self, inputs: Sequence[torch.Tensor]) -> Combined:
        columns = self.norm(side_by_side(inputs))
        prior, sums, masks = torch.ones_like(columns), [], []
        first, *others = self.features
        hidden = first(columns)
        for attention, transformer in zip(self.attentions, others, strict=True):
            mask = attention(hidden[:, self.output_size :], prior)
            prior = prior * (self._relaxation - mask)
            hidden = transformer(mask * columns)
            sums.append(torch.relu(hidden[:, : self.output_size]))
            masks.append(mask)
        values = self.projection(torch.stack(sums).sum(0))
        penalty = self._sparsity * _entropy(masks) if self.training and self._sparsity else None
        return Combined(values if self.dropout is None else self.dropout(values), penalty)


def _entropy(masks: Sequence[torch.Tensor]) -> torch.Tensor:
    """The mean over the steps of the entropy of a row's mask: [rows]."""
    stacked = torch.stack(list(masks))
    return -(stacked * torch.log(stacked + _EPSILON)).sum(2).mean(0)


def _norm(config: TabNetCombiner, columns: int, *, virtual_rows: int | None) -> nn.Module:
    """Ghost norm with these virtual batches, or batch norm."""
    with torch.device("cpu"):  # the values of a norm are constants, so they need not be drawn later
        if virtual_rows is None:
            return BatchNorm(columns, eps=config.bn_epsilon, momentum=config.bn_momentum)
        return GhostNorm(
            columns, epsilon=config.bn_epsilon, momentum=config.bn_momentum, virtual_batch_size=virtual_rows
        )


def _attention(config: TabNetCombiner) -> Attention:
    match config.entmax_mode:
        case "sparsemax":
            return sparsemax
        case "entmax15":
            return entmax15
        case "constant":
            return partial(entmax, alpha=config.entmax_alpha)
        case "adaptive":
            return AdaptiveEntmax(config.entmax_alpha)
