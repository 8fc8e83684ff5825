"""The base class of encoders: columns of a batch → one vector a row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn


@dataclass(frozen=True)
class EncoderInput:
    """The feature of an encoder: its statistics, the number of its columns in the batch, and the path of its encoder
    in the config (`config.input_features[2].encoder`)."""

    statistics: Mapping[str, Any]
    width: int
    path: str


class Encoder(nn.Module, ABC):
    """`columns` [rows, width] of the batch's tensor, a `Ragged` of rows, or images → [rows, output_size], of the
    model's dtype. Images are uint8 [rows, channels, height, width].

    A ragged column and images have no width: their `EncoderInput.width` is 1.
    """

    output_size: int

    @abstractmethod
    def forward(self, columns: Any) -> torch.Tensor: ...


class PassthroughEncoder(Encoder):
    """The columns unchanged; integers are converted to the model's dtype."""

    like: torch.Tensor

    def __init__(self, feature: EncoderInput) -> None:
        super().__init__()
        self.output_size = feature.width
        # This encoder has no weights, so a buffer carries the model's dtype.
        self.register_buffer("like", torch.empty(0, device="cpu"), persistent=False)

    def forward(self, columns: torch.Tensor) -> torch.Tensor:
        return columns.to(self.like.dtype)
