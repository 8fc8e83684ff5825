"""Ludwig's own image encoders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from trainwright_api.config.encoders.image import MLPMixerEncoder, Stacked2DCNNEncoder
from trainwright_api.problems import Mistakes
from trainwright_trainer.encoders.base import Encoder, EncoderInput
from trainwright_trainer.encoders.image import Pixels, check_size
from trainwright_trainer.layers.fully_connected import FullyConnected, stack_of
from trainwright_trainer.layers.image_convolution import Conv2d, Conv2DSettings, ConvolutionStack2D
from trainwright_trainer.layers.mixer import MixerBlock

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


class MLPMixer(Encoder):
    """uint8 [rows, channels, height, width] → [rows, output_size]. Without `avg_pool`, the patches are side by side."""

    def __init__(self, config: MLPMixerEncoder, feature: EncoderInput) -> None:
        super().__init__()
        check_size(config, feature)
        self.pixels = Pixels(feature)
        (channels, height, width), size = self.pixels.size, config.patch_size
        if height % size or width % size:
            raise Mistakes.one(f"{feature.path}.patch_size", f"{size}: it does not divide {height} × {width} pixels")
        patches = height // size * (width // size)
        self.patches = Conv2d(channels, config.embed_size, size, size)
        self.patches.initialize_like_torch()
        sizes = (patches, config.embed_size, config.token_size, config.channel_dim)
        self.blocks = nn.ModuleList(MixerBlock(*sizes, config.dropout) for _ in range(config.num_layers))
        with torch.device("cpu"):
            self.norm = nn.LayerNorm(config.embed_size)
        self._averages = config.avg_pool
        self.output_size = config.embed_size * (1 if config.avg_pool else patches)

    def forward(self, columns: torch.Tensor) -> torch.Tensor:
        values = self.patches(self.pixels(columns)).flatten(2).transpose(1, 2)
        for block in self.blocks:
            values = block(values)
        output: torch.Tensor = self.norm(values)
        return output.mean(1) if self._averages else output.flatten(1)


IMAGE_TYPES: Mapping[str, Callable[[Any, EncoderInput], Encoder]] = {
    "stacked_cnn": Stacked2DCNN,
    "mlp_mixer": MLPMixer,
}
