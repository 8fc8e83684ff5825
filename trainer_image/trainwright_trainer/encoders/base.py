"""What every encoder is: columns of a batch in, one vector a row out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn


@dataclass(frozen=True)
class Encoded:
    """The feature that an encoder is built for: its statistics, its columns in the batch, and where its encoder
    stands in the config (`config.input_features[2].encoder`)."""

    statistics: Mapping[str, Any]
    width: int
    path: str


class Encoder(nn.Module, ABC):
    """`columns` [rows, width] of the batch's tensor → [rows, output_size], of the model's dtype."""

    output_size: int

    @abstractmethod
    def forward(self, columns: torch.Tensor) -> torch.Tensor: ...


class Passthrough(Encoder):
    """The columns as they are; whole numbers become floating ones."""

    like: torch.Tensor

    def __init__(self, feature: Encoded) -> None:
        super().__init__()
        self.output_size = feature.width
        # It has no weights, so this says which dtype the model has.
        self.register_buffer("like", torch.empty(0), persistent=False)

    def forward(self, columns: torch.Tensor) -> torch.Tensor:
        return columns.to(self.like.dtype)
