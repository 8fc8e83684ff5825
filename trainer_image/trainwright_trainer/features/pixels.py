"""Decode images with torchvision. Its import takes a second, and models without images are served without torch: both
are imported when a job has an image."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trainwright_api.problems import Mistakes
from trainwright_trainer.features.channels import with_channels

if TYPE_CHECKING:
    import torch

CHANNELS = (1, 2, 3, 4)
"""Gray, gray and alpha, RGB, RGB and alpha."""
_PALETTE = b"\x03"
"""The colour type of a PNG with a palette, in byte 25."""

SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
"""The endings of the names of images, in lower case."""


@dataclass(frozen=True)
class ImageShape:
    """The form in which a model takes the images of a feature. `fill`: each pixel of an image that is missing."""

    channels: int
    height: int
    width: int
    resize_method: str
    fill: int = 0


def image_shape(preprocessing: Any, statistics: Mapping[str, Any]) -> ImageShape:
    """The shape that preprocessing has found for the images of a feature."""
    channels, height, width = (statistics[name] for name in ("channels", "height", "width"))
    return ImageShape(channels, height, width, preprocessing.resize_method, round(preprocessing.fill_value or 0))


class UnreadableImageError(Exception):
    """The bytes are no image that is decoded here."""


def check_installed(path: str) -> None:
    """Raise `Mistakes` without torchvision."""
    try:
        import_module("torchvision")
    except ImportError as error:
        raise Mistakes.one(path, "needs the library torchvision: pip install 'trainwright[image]'") from error


def decoded(content: Any, channels: int | None = None) -> torch.Tensor:
    """uint8 [channels, height, width] of an encoded image (a buffer); with its own channels for None.

    An image is turned as its EXIF data say. Raises `UnreadableImageError`.
    """
    import torch

    if not len(content):
        raise UnreadableImageError("it is empty")
    data = np.frombuffer(content, np.uint8)
    is_jpeg = bytes(data[:2]) == b"\xff\xd8"
    image = _decoded(data, "GRAY" if is_jpeg and channels == 1 else _mode(data))
    if is_jpeg and len(image) == 4:
        image = _decoded(data, "RGB")
    if channels is None or len(image) == channels:
        return image
    return torch.from_numpy(with_channels(image.numpy(), channels))


def _mode(data: npt.NDArray[np.uint8]) -> str:
    """The mode that keeps the channels. The numbers of a PNG with a palette are those of colours, not of gray."""
    if bytes(data[:4]) != b"\x89PNG" or bytes(data[25:26]) != _PALETTE:
        return "UNCHANGED"
    head, _, _ = data.tobytes().partition(b"IDAT")
    return "RGB_ALPHA" if b"tRNS" in head else "RGB"


def _decoded(data: npt.NDArray[np.uint8], mode: str) -> torch.Tensor:
    import torch

    library: Any = import_module("torchvision.io")
    try:
        # The function of Python around this operator gives a warning for each image.
        image: torch.Tensor = torch.ops.image.decode_image(
            torch.from_numpy(data.copy()), library.ImageReadMode[mode].value, True
        )
    except RuntimeError as error:
        raise UnreadableImageError(_reason(error)) from error
    if image.dtype != torch.uint8:  # PNG files of 16 bits
        image = (image.to(torch.int32) >> 8).to(torch.uint8)
    return image[0] if image.ndim == 4 else image  # the first picture of an animation


def channels_of(content: Any) -> int:
    """The number of channels of an encoded image. Raises `UnreadableImageError`."""
    return len(decoded(content))


def shaped(content: Any, shape: ImageShape) -> torch.Tensor:
    """uint8 [channels, height, width]: the image in the form of the model. Empty bytes are a missing image."""
    import torch

    size = (shape.height, shape.width)
    if not len(content):
        return torch.full((shape.channels, *size), shape.fill, dtype=torch.uint8)
    image = decoded(content, shape.channels)
    if image.shape[1:] == size:
        return image
    functional: Any = import_module("torchvision.transforms.v2.functional")
    if shape.resize_method == "crop_or_pad":
        return torch.as_tensor(functional.center_crop(image, list(size)))
    return torch.as_tensor(functional.resize(image, list(size), antialias=True))


def _reason(error: RuntimeError) -> str:
    """The last part of a message of torchvision, which begins with the name of a C++ file."""
    line = str(error).partition("\n")[0]
    return line.rpartition(".cpp:")[2].partition(", ")[2] or line
