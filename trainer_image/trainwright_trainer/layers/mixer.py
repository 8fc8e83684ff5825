"""A block of MLP-Mixer: fully connected layers over the patches of an image, then over the numbers of each patch."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from trainwright_trainer.layers.fully_connected import linear
from trainwright_trainer.layers.model_block import ModelBlock


class _Mlp(nn.Module):
    """[…, width] → the same shape: linear → GELU → dropout → linear → dropout."""

    def __init__(self, width: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.first, self.second = linear(width, hidden), linear(hidden, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        hidden = self.dropout(F.gelu(self.first(values)))
        output: torch.Tensor = self.dropout(self.second(hidden))
        return output


class MixerBlock(ModelBlock):
    """[rows, patches, width] → the same shape."""

    def __init__(self, patches: int, width: int, token_size: int, channel_size: int, dropout: float) -> None:
        super().__init__()
        with torch.device("cpu"):  # the values of a norm are constants, so they need not be drawn later
            self.token_norm, self.channel_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.tokens, self.channels = _Mlp(patches, token_size, dropout), _Mlp(width, channel_size, dropout)

    def compute(self, values: torch.Tensor) -> torch.Tensor:
        values = values + self.tokens(self.token_norm(values).transpose(1, 2)).transpose(1, 2)
        output: torch.Tensor = values + self.channels(self.channel_norm(values))
        return output
