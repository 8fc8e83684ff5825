"""The image encoders of the library timm: one class for all of its models."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import partial
from typing import Any

import torch
from torch import nn

from trainwright_api.config.encoders.timm import AnyTimmEncoder
from trainwright_api.problems import Mistakes
from trainwright_trainer.encoders.base import EncoderInput
from trainwright_trainer.encoders.image import LibraryEncoder, first_line
from trainwright_trainer.features.pretrained import loaded
from trainwright_trainer.features.timm_models import timm, timm_model
from trainwright_trainer.layers.library_model import Tensors
from trainwright_trainer.loader.layout import image_size

TYPES = ("timm", "caformer", "convformer", "poolformer", "convnextv2")


class Timm(LibraryEncoder):
    """A model of timm without its output layer. It reads any number of channels."""

    def __init__(self, config: AnyTimmEncoder, feature: EncoderInput) -> None:
        name = config.model_name
        found = timm_model(name, feature.path)
        make = partial(_made, name, feature)
        stored, scale = None, None
        if config.use_pretrained:
            stored, scale = partial(_stored, name, feature), (found.mean, found.std)
            if not found.location:
                raise Mistakes.one(f"{feature.path}.use_pretrained", f"true: timm has no weights of {name}")
        super().__init__(config, feature, make, stored, scale)
        _freeze_unused(self.model, self.pixels.size)


def _made(name: str, feature: EncoderInput, *, pretrained: bool = False) -> nn.Module:
    """The model without its output layer. Raises `Mistakes` if it cannot be built for the images."""
    channels, height, width = image_size(feature.statistics)
    known = timm_model(name, feature.path)
    size = {"img_size": (height, width)} if known.is_fixed and known.size != (height, width) else {}
    try:
        model: nn.Module = timm(feature.path).create_model(
            name, pretrained=pretrained, num_classes=0, in_chans=channels, **size
        )
    except (TypeError, AssertionError, RuntimeError) as error:
        line = f"{name}: no {height} × {width} pixels of {channels} channels: {first_line(error)}"
        raise Mistakes.one(f"{feature.path}.model_name", line) from error
    return model


def _stored(name: str, feature: EncoderInput) -> Tensors:
    """The pretrained weights, from the cache of the Hugging Face hub or from the hub. Raises `Mistakes`."""
    location = timm_model(name, feature.path).location
    path = f"{feature.path}.use_pretrained"
    found = loaded(location, path, lambda: _made(name, feature, pretrained=True))
    return {key: tensor.detach() for key, tensor in found.state_dict().items()}


def _freeze_unused(model: nn.Module, size: tuple[int, int, int]) -> None:
    """Never train the parameters that an output does not depend on: DDP waits for the gradient of each trained one."""
    copy: Any = deepcopy(model).to("meta").requires_grad_(True).eval()
    copy(torch.zeros(1, *size, device="meta")).sum().backward()
    for name, parameter in copy.named_parameters():
        if parameter.grad is None:
            model.get_parameter(name).requires_grad_(False)


TIMM_TYPES: Mapping[str, Any] = dict.fromkeys(TYPES, Timm)
