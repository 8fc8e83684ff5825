"""The combiners with self-attention over the inputs: `transformer` over all, `tabtransformer` over some.

As in Ludwig, each input is one step, and nothing is added for its position: the inputs have projections of their own.
Source of `tabtransformer`: Huang, Khetan, Cvitkovic, Karnin, "TabTransformer", 2020.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from trainwright_api.config.combiners.transformer import (
    AttentionCombiner,
    TabTransformerCombiner,
    TransformerCombiner,
)
from trainwright_trainer.combiners.base import Combined, Combiner, CombinerInput
from trainwright_trainer.layers.embedding import Embedding
from trainwright_trainer.layers.fully_connected import FullyConnected, linear, stack_of
from trainwright_trainer.layers.linear_products import side_by_side
from trainwright_trainer.layers.reduce import Reduction
from trainwright_trainer.layers.transformer import TransformerBlock


class Transformer(Combiner):
    """[rows, w₁], … → [rows, output_size]; [rows, inputs, hidden_size] if `reduce_output` is null."""

    joins = False

    def __init__(self, config: TransformerCombiner, inputs: Sequence[CombinerInput], path: str) -> None:
        super().__init__()
        self.attention = _InputAttention(config, [one.width for one in inputs], config.hidden_size)
        if config.reduce_output is None:
            self.output_size, self.output_length = config.hidden_size, len(inputs)
            self.reduction = self.stack = None
            return
        self.reduction = Reduction(config.reduce_output, len(inputs), config.hidden_size)
        self.stack = _stack(config, self.reduction.output_size, path)
        self.output_size = self.stack.output_size

    def forward(self, inputs: Sequence[torch.Tensor]) -> Combined:
        hidden = self.attention(inputs)
        if self.reduction is None or self.stack is None:
            return Combined(hidden)
        return Combined(self.stack(self.reduction(hidden)))


class TabTransformer(Combiner):
    """[rows, w₁], … → [rows, output_size]. Attention is over the inputs that are neither numbers nor binaries.

    Those follow beside the result, after a layer norm. One column alone has none: it would become a constant.
    """

    joins = False

    def __init__(self, config: TabTransformerCombiner, inputs: Sequence[CombinerInput], path: str) -> None:
        super().__init__()
        assert config.reduce_output is not None
        self._attended = [at for at, one in enumerate(inputs) if one.type not in ("number", "binary")]
        self._others = [at for at in range(len(inputs)) if at not in self._attended]
        named = config.embed_input_feature_name
        projected = config.hidden_size - (named if isinstance(named, int) else 0)
        self.attention = _InputAttention(config, [inputs[at].width for at in self._attended], projected)
        self.names = _name_table(config, len(self._attended))
        self.reduction = Reduction(config.reduce_output, len(self._attended), config.hidden_size)
        columns = sum(inputs[at].width for at in self._others)
        with torch.device("cpu"):  # the values of a norm are constants, so they need not be drawn later
            self.norm = nn.LayerNorm(columns) if columns > 1 else None
        self.stack = _stack(config, self.reduction.output_size + columns, path)
        self.output_size = self.stack.output_size

    def forward(self, inputs: Sequence[torch.Tensor]) -> Combined:
        attended = [inputs[at] for at in self._attended]
        names = None if self.names is None else self.names(torch.arange(len(attended), device=attended[0].device))
        hidden = self.attention(attended, names)
        parts = [self.reduction(hidden)]
        if self._others:
            columns = side_by_side([inputs[at] for at in self._others])
            parts.append(columns if self.norm is None else self.norm(columns))
        return Combined(self.stack(side_by_side(parts)))


class _InputAttention(nn.Module):
    """[rows, w₁], … → [rows, inputs, hidden_size]: a projection of each input, then transformer blocks.

    `names` [inputs, width] are learnt vectors: added to the projections if these have the same width, else beside them.
    """

    def __init__(self, config: AttentionCombiner, widths: Sequence[int], projected: int) -> None:
        super().__init__()
        self._adds = projected == config.hidden_size
        self.projections = nn.ModuleList(linear(width, projected) for width in widths)
        self.blocks = nn.ModuleList(
            TransformerBlock(config.hidden_size, config.num_heads, config.transformer_output_size, config.dropout)
            for _ in range(config.num_layers)
        )

    def forward(self, inputs: Sequence[torch.Tensor], names: torch.Tensor | None = None) -> torch.Tensor:
        projected = [layer(values) for layer, values in zip(self.projections, inputs, strict=True)]
        hidden = torch.stack(projected, 1)
        if names is not None:
            hidden = hidden + names if self._adds else torch.cat([hidden, names.expand(hidden.shape[0], -1, -1)], 2)
        for block in self.blocks:
            hidden = block(hidden)
        return hidden


def _name_table(config: TabTransformerCombiner, inputs: int) -> Embedding | None:
    named = config.embed_input_feature_name
    if named is None:
        return None
    return Embedding(inputs, config.hidden_size if named == "add" else named, None, "", is_exact=True)


def _stack(config: AttentionCombiner, input_size: int, path: str) -> FullyConnected:
    return FullyConnected(input_size, stack_of(config, path), residual=bool(config.fc_residual))
