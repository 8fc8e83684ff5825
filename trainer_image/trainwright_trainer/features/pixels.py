"""Decode images with torchvision. Its import takes a second, and models without images are served without torch: both
are imported when a job has an image."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from trainwright_api.problems import Mistakes

if TYPE_CHECKING:
    import torch

MODES = {1: "GRAY", 2: "GRAY_ALPHA", 3: "RGB", 4: "RGB_ALPHA"}
"""Number of channels → torchvision's name of the mode."""


@dataclass(frozen=True)
class ImageShape:
    """The form in which a model takes the images of a feature. `fill`: each pixel of an image that is missing."""

    channels: int
    height: int
    width: int
    resize_method: str
    fill: int = 0


class UnreadableImageError(Exception):
    """The bytes are no image that torchvision decodes."""


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

    library: Any = import_module("torchvision.io")
    mode = "UNCHANGED" if channels is None else MODES[channels]
    if not len(content):
        raise UnreadableImageError("it is empty")
    data = torch.from_numpy(np.frombuffer(content, np.uint8).copy())
    try:
        # The function of Python around this operator gives a warning for each image.
        image: torch.Tensor = torch.ops.image.decode_image(data, library.ImageReadMode[mode].value, True)
    except RuntimeError as error:
        raise UnreadableImageError(_reason(error)) from error
    if image.dtype != torch.uint8:  # PNG files of 16 bits
        image = (image.to(torch.int32) >> 8).to(torch.uint8)
    return image[0] if image.ndim == 4 else image  # the first picture of an animation


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
