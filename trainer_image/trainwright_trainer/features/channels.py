"""Conversions of images between one channel (gray), two (gray, alpha), three (RGB) and four (RGB, alpha)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]

_OPAQUE = 255
_LUMA = np.array([19595, 38470, 7471], np.uint32)
"""The weights of red, green and blue in gray (ITU-R BT.601), of 65,536."""


def with_channels(image: Pixels, channels: int) -> Pixels:
    """uint8 [channels, height, width] of an image [1 to 4, height, width]. Alpha is dropped, or 255 where it is new."""
    if len(image) == channels:
        return image
    colours: npt.NDArray[Any] = image[: len(image) - _alphas(len(image))]
    wanted = channels - _alphas(channels)
    if len(colours) > wanted:
        colours = (np.tensordot(_LUMA, colours, (0, 0)) + 0x8000 >> 16)[None]
    parts = [np.broadcast_to(colours, (wanted, *image.shape[1:]))]
    if _alphas(channels):
        parts.append(image[-1:] if _alphas(len(image)) else np.full_like(image[:1], _OPAQUE))
    return np.concatenate(parts, dtype=np.uint8, casting="unsafe")


def _alphas(channels: int) -> int:
    return int(channels in (2, 4))
