"""The common parts of the encoders of images: pixels as numbers, and models of a library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from trainwright_api.problems import Mistakes
from trainwright_trainer.encoders.base import Encoder, EncoderInput
from trainwright_trainer.layers.image_batch_norm import for_no_rows, share_norms
from trainwright_trainer.layers.initializers import Initialized
from trainwright_trainer.layers.library_model import InitialValues, Tensors, emptied, made_aside
from trainwright_trainer.loader.layout import image_size

_IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
Scale = tuple[Sequence[float], Sequence[float]]
"""Mean and standard deviation of each channel, of pixels from 0 to 1."""


class Pixels(nn.Module):
    """uint8 [rows, channels, height, width] → floats from 0 to 1, or standardized ones.

    `scale`: that of pretrained weights, for images that the file does not standardize.
    """

    mean: torch.Tensor
    std: torch.Tensor

    def __init__(self, feature: EncoderInput, scale: Scale | None = None) -> None:
        super().__init__()
        self.size = image_size(feature.statistics)
        channels = self.size[0]
        if feature.statistics["standardize"] == "imagenet1k":
            scale = _IMAGENET
        mean, std = (_of_channels(each, channels) for each in scale or ((0.0,), (1.0,)))
        for name, values in (("mean", mean), ("std", std)):
            column = torch.tensor(values, device="cpu").reshape(-1, 1, 1)
            self.register_buffer(name, column, persistent=False)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return (images.to(self.mean.dtype) / 255 - self.mean) / self.std


def _of_channels(values: Sequence[float], channels: int) -> Sequence[float]:
    """The values; their mean for each channel, if there are other channels."""
    return values if len(values) == channels else [sum(values) / len(values)] * channels


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
        scale: Scale | None = None,
    ) -> None:
        """`stored`: reads the pretrained weights; None: the library's random values. `scale`: that of the weights.

        Raises `Mistakes`.
        """
        super().__init__()
        self._is_trained, self._stored = config.trainable, stored
        self.pixels = Pixels(feature, scale)

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
            if columns.shape[0] > 0:  # `len` would be a constant in an exported graph
                return torch.as_tensor(self.model(self.pixels(columns)))
            with for_no_rows():  # a rank may have no rows, and many models need one
                output: torch.Tensor = self.model(self.pixels(columns.new_zeros(1, *self.pixels.size)))
                return output[:0]


def _width_of(model: nn.Module, size: tuple[int, int, int], path: str) -> int:
    """The width of the output for images of this size. Raises `Mistakes` if the model cannot read them."""
    shown = f"{size[0]} channels of {' × '.join(map(str, size[1:]))} pixels"
    with torch.device("cpu"), torch.no_grad():
        for rows in (0, 1):  # no row costs nothing, but many models need one
            try:
                return int(model.eval()(torch.zeros(rows, *size)).shape[1])
            except (RuntimeError, ValueError, AssertionError, ArithmeticError) as error:
                problem = error
    raise Mistakes.one(path, f"the model cannot read {shown} ({first_line(problem)})") from problem


def first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
