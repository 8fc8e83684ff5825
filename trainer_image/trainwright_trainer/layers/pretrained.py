"""The initial values of a model of the transformers library: stored ones, or random ones like the library's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from trainwright_trainer.features.pretrained import loaded, transformers
from trainwright_trainer.layers.adapter import base_name, lora_initializer
from trainwright_trainer.layers.initializers import Fills, Initializer


class StoredWeights:
    """The weights of a pretrained model by name or folder. They are read when the first one is needed, and each is
    given away once, so that they do not stay in memory."""

    def __init__(self, name: str, path: str) -> None:
        self._name, self._path = name, path
        self._tensors: dict[str, torch.Tensor] = {}
        self._missing: frozenset[str] = frozenset()

    def take(self, parameter: str) -> torch.Tensor | None:
        """The value of a parameter; None if the file lacks it. Raises `Mistakes` if there is no such model."""
        if parameter not in self._tensors and parameter not in self._missing:
            self._read()
        return self._tensors.pop(parameter, None)

    def _read(self) -> None:
        def load() -> Any:
            with torch.random.fork_rng(devices=[]):
                return transformers(self._path).AutoModel.from_pretrained(
                    self._name, output_loading_info=True, trust_remote_code=False, dtype=torch.float32
                )

        model, about = loaded(self._name, self._path, load)
        part = encoder_part(model)
        place = next(name for name, module in model.named_modules() if module is part)
        prefix = f"{place}." if place else ""
        self._missing = frozenset(name.removeprefix(prefix) for name in about["missing_keys"])
        self._tensors = {name: value for name, value in part.state_dict().items() if name not in self._missing}


def encoder_part(model: Any) -> Any:
    """The encoder of a model that also has a decoder; else the model."""
    return model.get_encoder() if model.config.is_encoder_decoder else model


@dataclass(frozen=True)
class _Stored:
    """Fills a parameter with its stored value, or with `otherwise` if there is none."""

    weights: StoredWeights
    name: str
    otherwise: Fills

    @torch.no_grad()
    def fill(self, tensor: torch.Tensor, generator: torch.Generator | None = None) -> None:
        found = self.weights.take(self.name)
        if found is None:
            self.otherwise.fill(tensor, generator)
        else:
            tensor.copy_(found)


def initializers_of(model: nn.Module, prefix: str, config: Any, stored: StoredWeights | None) -> dict[str, Fills]:
    """The initializers of all parameters, with `prefix` before their names.

    Random matrices are normal with the library's `initializer_range` (or `init_std`), norms are 1, biases are 0. The
    matrices of an adapter have their own.
    """
    found: dict[str, Fills] = {}
    spread = getattr(config, "initializer_range", getattr(config, "init_std", 0.02))
    for name, parameter in model.named_parameters():
        own = lora_initializer(name)
        plain = own or _random(name, parameter, spread)
        found[f"{prefix}.{name}"] = plain if stored is None or own else _Stored(stored, base_name(name), plain)
    return found


def _random(name: str, parameter: torch.Tensor, spread: float) -> Initializer:
    if parameter.ndim > 1:
        return Initializer("normal", {"mean": 0.0, "std": spread})
    return Initializer("zeros" if name.endswith("bias") else "ones", {})
