"""Convolutions of images: what torch cannot pad is one line."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from trainwright_api.config.inputs_media import ImageInput
from trainwright_api.problems import Mistakes
from trainwright_trainer.layers.image_convolution import Conv2DSettings, Convolution2D

PIXELS = (4, 7)


def convolution(**fields: Any) -> Convolution2D:
    encoder = {"type": "stacked_cnn", "out_channels": 2, "pool_kernel_size": None, **fields}
    config = ImageInput.model_validate({"name": "x", "encoder": encoder}).encoder
    return Convolution2D(1, PIXELS, Conv2DSettings.of(config, "config.input_features[0].encoder"))


@pytest.mark.parametrize("mode", ["zeros", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("padding", [0, 3, 4, 5, [3, 6], [3, 7], [4, 7], [3, 8]])
def test_a_padding_is_refused_where_torch_cannot_compute_it(mode: str, padding: Any) -> None:
    plain = torch.nn.Conv2d(1, 2, 3, padding=padding, padding_mode=mode)
    images = torch.zeros(1, 1, *PIXELS)
    try:
        expected = plain(images).shape
    except RuntimeError:
        with pytest.raises(Mistakes, match=rf"encoder\.padding: .*: {mode} takes at most .* of 4 × 7 pixels"):
            convolution(padding=padding, padding_mode=mode)
        return
    assert convolution(padding=padding, padding_mode=mode)(images).shape == expected


def test_the_same_size_needs_a_padding_too() -> None:
    same = {"padding": "same", "padding_mode": "reflect"}
    assert convolution(kernel_size=[7, 3], **same)(torch.zeros(1, 1, *PIXELS)).shape == (1, 2, *PIXELS)
    with pytest.raises(Mistakes, match=r"padding: same: reflect takes at most 3 × 6 of 4 × 7 pixels"):
        convolution(kernel_size=[8, 3], **same)
