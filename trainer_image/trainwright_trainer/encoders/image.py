"""The common parts of the encoders of images: pixels as numbers, and models of a library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from trainwright_api.problems import Mistakes
from trainwright_trainer.encoders.base import Encoder, EncoderInput
from trainwright_trainer.layers.image_batch_norm import share_norms
from trainwright_trainer.layers.initializers import Initialized
from trainwright_trainer.layers.library_model import InitialValues, Tensors, emptied, made_aside
from trainwright_trainer.loader.layout import image_size

_IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
"""Mean and standard deviation of each channel of ImageNet, of pixels from 0 to 1."""


class Pixels(nn.Module):
    """uint8 [rows, channels, height, width] → floats from 0 to 1, or standardized ones."""

    mean: torch.Tensor
    std: torch.Tensor

    def __init__(self, feature: EncoderInput) -> None:
        super().__init__()
        self.size = image_size(feature.statistics)
        channels = self.size[0]
        mean, std = ((0.0,) * channels, (1.0,) * channels)
        if feature.statistics["standardize"] == "imagenet1k":
            mean, std = _IMAGENET
        for name, values in (("mean", mean), ("std", std)):
            column = torch.tensor(values, device="cpu").reshape(-1, 1, 1)
            self.register_buffer(name, column, persistent=False)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return (images.to(self.mean.dtype) / 255 - self.mean) / self.std


def check_size(config: Any, feature: EncoderInput) -> None:
    """Raise `Mistakes` if the encoder names another size than that of the images."""
    for name, own in zip(("num_channels", "height", "width"), image_size(feature.statistics), strict=True):
        if getattr(config, name, None) not in (None, own):
            found = f"is {getattr(config, name)}, the images have {own}; leave it out"
            raise Mistakes.one(f"{feature.path}.{name}", found)


class LibraryEncoder(Encoder, Initialized):
    """uint8 [rows, channels, height, width] → [rows, output_size] by a model of a library, without its output layer.

    Frozen without `trainable`: then always in eval mode, so that its buffers keep their values too.
    """

    def __init__(
        self,
        config: Any,
        feature: EncoderInput,
        make: Callable[[], nn.Module],
        stored: Callable[[], Tensors] | None = None,
    ) -> None:
        """`stored`: reads the pretrained weights; None: the library's random values. Raises `Mistakes`."""
        super().__init__()
        self._is_trained, self._stored = config.trainable, stored
        self.pixels = Pixels(feature)

        def shared() -> nn.Module:
            model = make()
            share_norms(model)
            return model

        made = made_aside(shared)
        self.output_size = _width_of(made, self.pixels.size, f"{feature.path}.type")
        self.model = emptied(made)
        self.initialize(**InitialValues(self.model, shared, stored).initializers("model"))
        self.model.requires_grad_(config.trainable)

    def check_stored(self) -> None:
        """Raise `Mistakes` if the pretrained weights cannot be read."""
        if self._stored is not None:
            self._stored()

    def train(self, mode: bool = True) -> LibraryEncoder:
        super().train(mode)
        self.model.train(mode and self._is_trained)
        return self

    def forward(self, columns: torch.Tensor) -> torch.Tensor:
        with torch.set_grad_enabled(self._is_trained and torch.is_grad_enabled()):
            output: torch.Tensor = self.model(self.pixels(columns))
        return output


def _width_of(model: nn.Module, size: tuple[int, int, int], path: str) -> int:
    """The width of the output for images of this size. Raises `Mistakes` if the model cannot read them."""
    with torch.device("cpu"), torch.no_grad():
        try:
            return int(model.eval()(torch.zeros(0, *size)).shape[1])
        except (RuntimeError, ValueError, AssertionError) as error:
            line = str(error).partition("\n")[0]
            shown = " × ".join(map(str, size[1:]))
            raise Mistakes.one(path, f"the model cannot read {size[0]} channels of {shown} pixels ({line})") from error


def check_stored_weights(encoders: nn.Module) -> None:
    """Raise `Mistakes` if the pretrained weights of an encoder cannot be read, before a run begins."""
    for module in encoders.modules():
        if isinstance(module, LibraryEncoder):
            module.check_stored()
