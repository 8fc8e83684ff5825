"""The initial values of parameters, drawn from (seed, name): the same for any order of construction and any device."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

import torch
from torch import nn

from trainwright_trainer.data.order import Purpose, key
from trainwright_trainer.layers.initializers import Fills, Initialized


def drawn_weights(
    root: nn.Module, prefix: str, seed: int, given: Mapping[str, torch.Tensor]
) -> Iterator[tuple[str, torch.Tensor]]:
    """`Model.initial_weights` of the part `root` of a model, which is called `prefix` there. `given` values have
    priority."""
    for place, module in root.named_modules(prefix=prefix):
        for local, initializer in (module.initializers if isinstance(module, Initialized) else {}).items():
            name, parameter = f"{place}.{local}", module.get_parameter(local)
            if parameter.is_meta:
                values = given[name] if name in given else _drawn(name, parameter, initializer, seed)
                # A copy, because training changes it.
                yield name, values.to(parameter.dtype, copy=True)


def _drawn(name: str, parameter: nn.Parameter, fills: Fills, seed: int) -> torch.Tensor:
    generator = torch.Generator()
    generator.manual_seed(key(seed, Purpose.INITIALISATION, _word_of(name)))
    values = torch.empty(parameter.shape, dtype=torch.float32)
    fills.fill(values, generator)
    return values


def _word_of(name: str) -> int:
    """The word of a parameter in the key of its generator: the first 8 bytes of the SHA-256 of its name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])
