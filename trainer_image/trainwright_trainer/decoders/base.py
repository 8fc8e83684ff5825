"""The base class of decoders: fully connected layers, then a head for the logits. Other outputs may depend on the last
hidden state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch
from torch import nn

from trainwright_api.problems import Mistakes
from trainwright_trainer.decoders.affine_output import AffineOutput
from trainwright_trainer.layers.fully_connected import FullyConnected, linear, stack_of


class Decoder(nn.Module, ABC):
    """`hidden` [rows, hidden_size] → logits [rows, width of the target].

    `takes_sequences`: the decoder takes each step of a combined sequence, not one vector. `source`: what makes its
    input; the outputs set it. `temperature`, [1]: the divisor of the logits of a calibrated output; 1 during training.
    """

    takes_sequences: ClassVar[bool] = False
    source: nn.Module
    temperature: torch.Tensor | None

    def __init__(self, config: Any, input_size: int, path: str, start: AffineOutput | None) -> None:
        super().__init__()
        self.stack = FullyConnected(input_size, stack_of(config, path))
        self.has_layers = len(self.stack.layers) > 0
        self.hidden_size = self.stack.output_size
        self.start = start
        self.register_buffer("temperature", None)

    def hidden(self, combined: Any) -> Any:
        """The last hidden state, [rows, hidden_size]. It is also an input of the outputs that depend on this one."""
        return self.stack(combined) if self.has_layers else combined

    def started(self, values: torch.Tensor) -> torch.Tensor:
        """The values of the last layer after the fixed affine step `start`, if there is one."""
        if self.start is None:
            return values
        start: torch.Tensor = self.start(values)
        return start

    def calibrated(self, logits: torch.Tensor) -> torch.Tensor:
        """The logits divided by the temperature, if the output has one."""
        return logits if self.temperature is None else logits / self.temperature

    @abstractmethod
    def forward(self, hidden: Any) -> torch.Tensor: ...


def head(config: Any, input_size: int, output_size: int, path: str) -> nn.Linear:
    """The last layer of a decoder."""
    agree(config.input_size, input_size, f"{path}.input_size")
    return linear(
        input_size,
        output_size,
        use_bias=config.use_bias,
        weights_initializer=config.weights_initializer,
        bias_initializer=config.bias_initializer,
        path=f"{path}.",
    )


def agree(given: int | None, found: int, path: str) -> None:
    """Raise `Mistakes` if a config gives a size that differs from the size `found` from the model and the data."""
    if given is not None and given != found:
        raise Mistakes.one(path, f"is {given}, the model and the data make it {found}. Leave it out.")
