"""Decode and resize images with Pillow and numpy, for models that are served without torch.

The pixels are those of `features.pixels` to the bit. Pillow resizes with other weights, so the resizing is our own: the
integer weights of torch's bilinear kernel with antialiasing for uint8 (`UpSampleKernel.cpp`).
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt

from trainwright_api.problems import Mistakes
from trainwright_trainer.features.channels import Pixels, with_channels
from trainwright_trainer.features.pixels import ImageShape, UnreadableImageError

_MODES = {"1": "L", "CMYK": "RGB"}
"""Modes of Pillow that are read as another one."""
_PRECISION_BITS, _WEIGHT_BITS = 22, 15


def check_installed(path: str) -> None:
    """Raise `Mistakes` without Pillow."""
    try:
        import_module("PIL.Image")
    except ImportError as error:
        raise Mistakes.one(path, "needs the library Pillow: pip install 'trainwright[serving]'") from error


def channels_of(content: Any) -> int:
    """The number of channels of an encoded image. Raises `UnreadableImageError`."""
    return len(_decoded(content, None))


def shaped(content: Any, shape: ImageShape) -> Pixels:
    """uint8 [channels, height, width]: the image in the form of the model. Empty bytes are a missing image."""
    size = (shape.height, shape.width)
    if not len(content):
        return np.full((shape.channels, *size), shape.fill, np.uint8)
    image = with_channels(_decoded(content, shape.channels), shape.channels)
    if shape.resize_method == "crop_or_pad":
        return _cropped(image, size)
    return _resized(image, size)


def _decoded(content: Any, channels: int | None) -> Pixels:
    """uint8 [channels, height, width], with the image's own channels. A JPEG has a gray one beside them."""
    library: Any = import_module("PIL.Image")
    try:
        image = library.open(BytesIO(content), formats=("JPEG", "PNG", "GIF", "WEBP"))
        is_gray = image.format == "JPEG" and channels == 1
        if is_gray:
            image.draft("L", image.size)
        image.load()
    except Exception as error:  # Pillow raises errors of many classes for damaged files
        raise UnreadableImageError(str(error)) from error
    if image.format in ("JPEG", "PNG"):
        image = import_module("PIL.ImageOps").exif_transpose(image)
    is_gif = image.mode == "P" and image.format == "GIF"
    found: npt.NDArray[Any] = _gif(image) if is_gif else _plain(image, is_gray)
    return np.ascontiguousarray(found[None] if found.ndim == 2 else found.transpose(2, 0, 1))


def _plain(image: Any, is_gray: bool) -> npt.NDArray[Any]:
    if image.mode == "I;16":
        return (np.asarray(image) >> 8).astype(np.uint8)
    mode = _MODES.get(image.mode, image.mode)
    if mode == "P":
        mode = "RGBA" if "transparency" in image.info else "RGB"
    return np.asarray(image.convert("L" if is_gray else mode))


def _gif(image: Any) -> npt.NDArray[Any]:
    """The first picture. Its transparent pixels have the colour of the background."""
    index, found = np.asarray(image), np.array(image.convert("RGB"))
    if (clear := image.info.get("transparency")) is not None:
        palette = np.array(image.getpalette(), np.uint8).reshape(-1, 3)
        found[index == clear] = palette[image.info.get("background", 0)]
    return found


def _cropped(image: Pixels, size: tuple[int, int]) -> Pixels:
    """The middle of the image, with black around it where it is too small."""
    for axis, wanted in enumerate(size, start=1):
        missing = max(0, wanted - image.shape[axis])
        around = [(0, 0)] * 3
        around[axis] = (missing // 2, missing - missing // 2)
        image = np.pad(image, around)
        start = round((image.shape[axis] - wanted) / 2)
        image = image.take(range(start, start + wanted), axis)
    return image


def _resized(image: Pixels, size: tuple[int, int]) -> Pixels:
    """First the width, then the height. The sums of integers are exact in float64."""
    found: npt.NDArray[Any] = image
    for axis in (2, 1):
        if found.shape[axis] == size[axis - 1]:
            continue
        weights, bits = _weights(found.shape[axis], size[axis - 1])
        wide = found.astype(np.float64)
        sums = wide @ weights.T if axis == 2 else weights @ wide
        found = np.clip(np.floor((sums + (1 << bits >> 1)) / (1 << bits)), 0, 255).astype(np.uint8)
    return found


@lru_cache(maxsize=64)
def _weights(size: int, wanted: int) -> tuple[npt.NDArray[np.float64], int]:
    """The weights of the pixels in each new pixel, [wanted, size], whole numbers; and the bits after their point."""
    scale = size / wanted
    support = max(scale, 1.0)
    shares = np.zeros((wanted, size))
    for place in range(wanted):
        centre = scale * (place + 0.5)
        first, last = max(int(centre - support + 0.5), 0), min(int(centre + support + 0.5), size)
        near = np.maximum(0.0, 1.0 - np.abs(np.arange(first, last) - centre + 0.5) / support)
        shares[place, first:last] = near / near.sum()
    largest, bits = float(shares.max()), 0
    while bits < _PRECISION_BITS and int(0.5 + largest * (1 << bits + 1)) < 1 << _WEIGHT_BITS:
        bits += 1
    return np.floor(shares * (1 << bits) + 0.5), bits
