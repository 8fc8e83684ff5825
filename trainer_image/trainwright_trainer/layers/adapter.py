"""LoRA adapters of the library peft, in models whose parameters are on the meta device."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

from trainwright_api.config.adapters import Lora
from trainwright_api.problems import Mistakes
from trainwright_trainer.layers.initializers import Fills, Initializer

_BASE = ".base_layer."


def add_lora(section: Lora, model: Any, path: str) -> None:
    """Put low-rank matrices beside the weights of `model`. Only they, and biases by `bias_type`, are trained.

    Raises `Mistakes` for modules that the model does not have.
    """
    peft = _peft(path)
    settings = peft.LoraConfig(
        r=section.r,
        lora_alpha=2 * section.r if section.alpha is None else section.alpha,
        lora_dropout=section.dropout,
        bias=section.bias_type,
        target_modules=section.target_modules,
        use_rslora=section.use_rslora,
    )
    try:
        with warnings.catch_warnings():  # the library corrects fan_in_fan_out itself, and warns of it
            warnings.simplefilter("ignore", UserWarning)
            peft.inject_adapter_in_model(settings, model, low_cpu_mem_usage=True)
    except ValueError as error:
        found = "null" if section.target_modules is None else ", ".join(section.target_modules)
        line = f"{found}: a {model.config.model_type} has the modules {', '.join(_linear(model))}"
        raise Mistakes.one(f"{path}.target_modules", line) from error


def _peft(path: str) -> Any:
    try:
        import peft
    except ImportError as error:
        raise Mistakes.one(path, "needs the library peft: pip install 'trainwright[text]'") from error
    return peft


def _linear(model: nn.Module) -> list[str]:
    """The names of the modules that can have an adapter."""
    kinds = ("Linear", "Conv1D")
    found = (name.rpartition(".")[2] for name, one in model.named_modules() if type(one).__name__ in kinds)
    return list(dict.fromkeys(found))


def base_name(name: str) -> str:
    """The name that a parameter has without an adapter."""
    return name.replace(_BASE, ".")


def lora_initializer(name: str) -> Fills | None:
    """The initializer of a matrix of an adapter, as in the paper: together they begin as zero. None for others."""
    if ".lora_A." in name:
        return Initializer("kaiming_uniform", {"a": math.sqrt(5)})
    return Initializer("zeros", {}) if ".lora_B." in name else None


@torch.no_grad()
def merged(model: nn.Module, tensors: Mapping[str, torch.Tensor]) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors of the model without its adapters, whose update is added to the weights."""
    layers = {name: one for name, one in model.named_modules() if hasattr(one, "get_delta_weight")}
    for name, tensor in tensors.items():
        if ".lora_" in name:
            continue
        layer = layers.get(name.removesuffix(f"{_BASE}weight"))
        update: Any = 0 if layer is None else layer.get_delta_weight("default")
        yield base_name(name), tensor + update
