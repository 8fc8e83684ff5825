"""Encoders of a date's nine numbers: year, month, day, weekday, yearday, hour, minute, second, second of the day.

Both follow Ludwig: the year goes through one linear neuron, the other parts through tables (embed) or sines with their
natural periods (wave), and a stack of fully connected layers follows. One thing differs: the neuron's input is the year
in centuries from 2000. Ludwig's input is 2013 itself, which is far larger than all other inputs of the model. The
neuron can express the same functions of the year.
"""

from __future__ import annotations

import math

import torch
from torch import nn

from trainwright_api.config.encoders.date import DateEmbedEncoder, DateWaveEncoder
from trainwright_trainer.encoders.base import Encoder, EncoderInput
from trainwright_trainer.layers.embedding import Embedding
from trainwright_trainer.layers.fully_connected import FullyConnected, linear, stack_of

# Part → (its column, its first value, the number of its values).
PARTS = {
    "month": (1, 1, 12),
    "day": (2, 1, 31),
    "weekday": (3, 0, 7),
    "yearday": (4, 1, 366),
    "hour": (5, 0, 24),
    "minute": (6, 0, 60),
    "second": (7, 0, 60),
}
SECONDS_OF_A_DAY = 86_400


class _Date(Encoder):
    """The common parts of both encoders: the neuron of the year, dropout, and the layers at the end."""

    def __init__(self, config: DateEmbedEncoder | DateWaveEncoder, feature: EncoderInput) -> None:
        super().__init__()
        self.year = linear(
            1,
            1,
            use_bias=config.use_bias,
            weights_initializer=config.weights_initializer,
            bias_initializer=config.bias_initializer,
            path=f"{feature.path}.",
        )
        self.dropout = nn.Dropout(config.dropout) if config.dropout else None

    def _end(self, width: int, config: DateEmbedEncoder | DateWaveEncoder, feature: EncoderInput) -> None:
        self.stack = FullyConnected(width, stack_of(config, feature.path))
        self.output_size = self.stack.output_size

    def _centuries(self, columns: torch.Tensor) -> torch.Tensor:
        """The learnt year: [rows, 1]."""
        scaled: torch.Tensor = self.year((columns[:, :1].to(self.year.weight.dtype) - 2000) / 100)
        return self.dropout(scaled) if self.dropout else scaled


class DateEmbedded(_Date):
    """int64 [rows, 9] → [rows, output_size]; a learnt embedding for each month, day, hour and so on."""

    def __init__(self, config: DateEmbedEncoder, feature: EncoderInput) -> None:
        super().__init__(config, feature)
        path = f"{feature.path}.weights_initializer"
        self.tables = nn.ModuleDict()
        for part, (_, _, many) in PARTS.items():
            self.tables[part] = Embedding(many, config.embedding_size, config.weights_initializer, path)
        self._end(2 + sum(min(many, config.embedding_size) for _, _, many in PARTS.values()), config, feature)

    def forward(self, columns: torch.Tensor) -> torch.Tensor:
        parts = [self._centuries(columns)]
        for part, (column, first, many) in PARTS.items():
            row = self.tables[part]((columns[:, column] - first).clamp(0, many - 1))
            parts.append(self.dropout(row) if self.dropout else row)
        parts.append(_wave(columns[:, 8:9], SECONDS_OF_A_DAY, self.year.weight.dtype))
        output: torch.Tensor = self.stack(torch.cat(parts, 1))
        return output


class DateWave(_Date):
    """int64 [rows, 9] → [rows, output_size]; a sine for each part, so that December is close to January."""

    def __init__(self, config: DateWaveEncoder, feature: EncoderInput) -> None:
        super().__init__(config, feature)
        self._end(2 + len(PARTS), config, feature)

    def forward(self, columns: torch.Tensor) -> torch.Tensor:
        dtype = self.year.weight.dtype
        waves = [_wave(columns[:, column : column + 1], many, dtype) for column, _, many in PARTS.values()]
        waves.append(_wave(columns[:, 8:9], SECONDS_OF_A_DAY, dtype))
        output: torch.Tensor = self.stack(torch.cat([self._centuries(columns), *waves], 1))
        return output


def _wave(column: torch.Tensor, period: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.sin(column.to(dtype) * (2 * math.pi / period))
