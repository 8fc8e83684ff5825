"""The image encoders of torchvision: one class, and one line in a table for each family."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.error import URLError

import torch
from torch import nn

from trainwright_api.config.encoders.torchvision import TorchvisionEncoder
from trainwright_api.problems import Mistakes
from trainwright_trainer.encoders.base import EncoderInput
from trainwright_trainer.encoders.image import LibraryEncoder
from trainwright_trainer.layers.library_model import Tensors
from trainwright_trainer.loader.layout import image_size

FAMILIES: Mapping[str, str] = {
    "alexnet": "alexnet",
    "convnext": "convnext_{}",
    "densenet": "densenet{}",
    "efficientnet": "efficientnet_{}",
    "googlenet": "googlenet",
    "inceptionv3": "inception_v3",
    "maxvit": "maxvit_{}",
    "mnasnet": "mnasnet{}",
    "mobilenetv2": "mobilenet_v2",
    "mobilenetv3": "mobilenet_v3_{}",
    "regnet": "regnet_{}",
    "resnet": "resnet{}",
    "resnext": "resnext{}",
    "shufflenet_v2": "shufflenet_v2_{}",
    "squeezenet": "squeezenet{}",
    "swin_transformer": "swin_{}",
    "vgg": "vgg{}",
    "vit": "vit_{}",
    "wide_resnet": "wide_resnet{}",
}
"""Ludwig's word → torchvision's name, with the place of `model_variant`."""
_CLASSES = 1000
_WITH_AUXILIARY = ("googlenet", "inceptionv3")
"""Families with further output layers for training, and whose weights expect another scale of the pixels."""


class Torchvision(LibraryEncoder):
    """A model of torchvision without its output layer."""

    def __init__(self, config: TorchvisionEncoder, feature: EncoderInput) -> None:
        channels = image_size(feature.statistics)[0]
        if channels != 3:
            path = f"{feature.path.removesuffix('.encoder')}.preprocessing.num_channels"
            raise Mistakes.one(path, f"{channels}: the models of torchvision read 3 channels")
        make = partial(_made, config, feature)
        super().__init__(config, feature, make, partial(_stored, config, feature) if config.use_pretrained else None)


def name_of(config: Any) -> str:
    """torchvision's name of the model."""
    return str(FAMILIES[config.type].format(config.model_variant))


def _made(config: Any, feature: EncoderInput) -> nn.Module:
    """The model with random weights, and without its output layer. Raises `Mistakes`."""
    _, height, width = image_size(feature.statistics)
    options: dict[str, Any] = {}
    if config.type == "vit":
        if height != width:
            raise Mistakes.one(f"{feature.path}.type", f"vit reads square images, not {height} × {width}")
        options["image_size"] = height
    elif config.type == "maxvit":
        options["input_size"] = (height, width)
    elif config.type in _WITH_AUXILIARY:
        options |= {"aux_logits": False, "init_weights": True, "transform_input": config.use_pretrained}
    try:
        model: nn.Module = import_module("torchvision.models").get_model(name_of(config), weights=None, **options)
    except (ValueError, RuntimeError, AssertionError) as error:
        line = str(error).partition("\n")[0]
        raise Mistakes.one(f"{feature.path}.type", f"no {height} × {width} pixels: {line}") from error
    name = _head_of(model)
    owner, _, local = name.rpartition(".")
    setattr(model.get_submodule(owner), local, nn.Identity())
    return model


def _head_of(model: nn.Module) -> str:
    """The name of the output layer: the last one with as many outputs as ImageNet has classes."""
    heads = [
        name
        for name, one in model.named_modules()
        if _CLASSES in (getattr(one, "out_features", None), getattr(one, "out_channels", None))
    ]
    return str(heads[-1])


def _stored(config: TorchvisionEncoder, feature: EncoderInput) -> Tensors:
    """The pretrained weights, from the folder of torch's cache or from torchvision's server. Raises `Mistakes`."""
    weights: Any = import_module("torchvision.models").get_model_weights(name_of(config)).DEFAULT
    home = Path(config.model_cache_dir, "hub") if config.model_cache_dir else Path(torch.hub.get_dir())
    folder, file = home / "checkpoints", weights.url.rpartition("/")[2]
    try:
        found: Tensors = torch.hub.load_state_dict_from_url(
            weights.url, str(folder), map_location="cpu", progress=False, check_hash=True, weights_only=True
        )
    except (URLError, OSError) as error:
        where = (
            "model_cache_dir" if config.model_cache_dir else f"TORCH_HOME: {os.environ.get('TORCH_HOME', 'not set')}"
        )
        line = f"true: there is no {file} in {folder} ({where}), and it cannot be fetched from {weights.url}"
        raise Mistakes.one(f"{feature.path}.use_pretrained", line) from error
    except (RuntimeError, EOFError) as error:
        raise Mistakes.one(f"{feature.path}.use_pretrained", f"{folder / file} is damaged: delete it") from error
    return found


TORCHVISION_TYPES: Mapping[str, Any] = dict.fromkeys(FAMILIES, Torchvision)
