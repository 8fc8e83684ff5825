"""Ludwig's own image encoders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch

from trainwright_api.config.encoders.image import Stacked2DCNNEncoder
from trainwright_trainer.encoders.base import Encoder, EncoderInput
from trainwright_trainer.encoders.image import Pixels, check_size
from trainwright_trainer.layers.fully_connected import FullyConnected, stack_of
from trainwright_trainer.layers.image_convolution import Conv2DSettings, ConvolutionStack2D

_USUAL_CHANNELS = (32, 64)


class Stacked2DCNN(Encoder):
    """uint8 [rows, channels, height, width] → [rows, output_size]: convolutions, then fully connected layers."""

    def __init__(self, config: Stacked2DCNNEncoder, feature: EncoderInput) -> None:
        super().__init__()
        check_size(config, feature)
        self.pixels = Pixels(feature)
        self.convolutions = ConvolutionStack2D(self.pixels.size, _layers(config, feature.path))
        channels, height, width = self.convolutions.output_shape
        self.stack = FullyConnected(channels * height * width, stack_of(config, feature.path))
        self.output_size = self.stack.output_size

    def forward(self, columns: torch.Tensor) -> torch.Tensor:
        hidden = self.convolutions(self.pixels(columns))
        output: torch.Tensor = self.stack(hidden.flatten(1))
        return output


def _layers(config: Stacked2DCNNEncoder, path: str) -> list[Conv2DSettings]:
    """The listed layers, else so many equal ones, else two, as in Ludwig."""
    default = Conv2DSettings.of(config, path)
    if config.conv_layers is not None:
        listed = enumerate(config.conv_layers)
        return [default.changed_by(layer, f"{path}.conv_layers[{position}].") for position, layer in listed]
    if config.num_conv_layers is not None:
        return [default] * config.num_conv_layers
    return [replace(default, out_channels=channels) for channels in _USUAL_CHANNELS]


IMAGE_TYPES: Mapping[str, Callable[[Any, EncoderInput], Encoder]] = {"stacked_cnn": Stacked2DCNN}
