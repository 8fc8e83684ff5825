"""Self-attention, and the transformer block of Ludwig: self-attention and two linear layers, each followed by a layer
norm."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from trainwright_trainer.layers.fully_connected import linear
from trainwright_trainer.layers.model_block import ModelBlock
from trainwright_trainer.layers.reduce import Mask

_EPSILON = 1e-6


class TransformerBlock(ModelBlock):
    """values [rows, length, width], mask → the same shape. No step attends to steps outside the mask.

    `inner`: the width between the two linear layers. Nothing tells the positions of the steps apart.
    """

    def __init__(self, width: int, heads: int, inner: int, dropout: float) -> None:
        super().__init__()
        self._heads = heads
        self.query, self.key, self.value = (linear(width, width) for _ in range(3))
        self.joined = linear(width, width)
        self.first, self.second = linear(width, inner), linear(inner, width)
        with torch.device("cpu"):  # the values of a norm are constants, so they need not be drawn later
            self.attended = nn.LayerNorm(width, eps=_EPSILON)
            self.processed = nn.LayerNorm(width, eps=_EPSILON)
        self.dropout = nn.Dropout(dropout)

    def compute(self, values: torch.Tensor, mask: Mask = None) -> torch.Tensor:
        attended = self.attended(values + self.dropout(self._attention(values, mask)))
        processed = self.second(torch.relu(self.first(attended)))
        output: torch.Tensor = self.processed(attended + self.dropout(processed))
        return output

    def _attention(self, values: torch.Tensor, mask: Mask) -> torch.Tensor:
        found = attention(self.query(values), self.key(values), self.value(values), self._heads, mask)
        joined: torch.Tensor = self.joined(found)
        return joined


class SelfAttention(nn.Module):
    """values [rows, length, width], mask → [rows, length, output_size]: multi-head attention alone."""

    def __init__(self, width: int, output_size: int, heads: int) -> None:
        super().__init__()
        self.output_size, self._heads = output_size, heads
        self.query, self.key, self.value = (linear(width, output_size) for _ in range(3))
        self.joined = linear(output_size, output_size)

    def forward(self, values: torch.Tensor, mask: Mask = None) -> torch.Tensor:
        found = attention(self.query(values), self.key(values), self.value(values), self._heads, mask)
        joined: torch.Tensor = self.joined(found)
        return joined


def attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, heads: int, mask: Mask = None
) -> torch.Tensor:
    """[rows, length, width] each → the same shape. No step attends to steps outside the mask."""
    rows, length, width = query.shape
    by_head = [one.view(rows, length, heads, width // heads).transpose(1, 2) for one in (query, key, value)]
    seen = None if mask is None else mask[:, None, None, :]
    found = F.scaled_dot_product_attention(by_head[0], by_head[1], by_head[2], attn_mask=seen)
    return found.transpose(1, 2).flatten(2)
