"""The initializers of parameters: the functions of `torch.nn.init`, by name.

A layer keeps the initializers of its parameters, so that a model on the meta device can be filled later, parameter by
parameter, each from a generator of its own. A layer that is built on a real device is filled at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import nn
from torch.nn import init

from trainwright_api.config.initializers import AnyInitializer, initializer_parts
from trainwright_api.problems import Mistakes


def sparse_(
    tensor: torch.Tensor, sparsity: float, std: float = 0.01, generator: torch.Generator | None = None
) -> torch.Tensor:
    """As `torch.nn.init.sparse_`, which draws the places of the zeros from the global generator alone."""
    rows, columns = tensor.shape
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        tensor[torch.randperm(rows, generator=generator)[: math.ceil(sparsity * rows)], column] = 0
    return tensor


FUNCTIONS: Mapping[str, Callable[..., torch.Tensor]] = {
    "constant": init.constant_,
    "dirac": init.dirac_,
    "eye": init.eye_,
    "identity": init.eye_,
    "kaiming_normal": init.kaiming_normal_,
    "kaiming_uniform": init.kaiming_uniform_,
    "normal": init.normal_,
    "ones": init.ones_,
    "orthogonal": init.orthogonal_,
    "sparse": sparse_,
    "uniform": init.uniform_,
    "xavier_normal": init.xavier_normal_,
    "xavier_uniform": init.xavier_uniform_,
    "zeros": init.zeros_,
}
# The contract's defaults for initializers that are given by name alone and have no default in torch.
_ALONE: Mapping[str, Mapping[str, float]] = {"constant": {"val": 0.0}, "sparse": {"sparsity": 0.1}}
_ANY_SHAPE = frozenset({"constant", "normal", "ones", "uniform", "zeros"})
# These need rows and columns, and take the other dimensions of a convolution too.
_MATRIX_OR_MORE = frozenset({"kaiming_normal", "kaiming_uniform", "orthogonal", "xavier_normal", "xavier_uniform"})
# All others need rows and columns alone.
_WITHOUT_CHANCE = frozenset({"constant", "dirac", "eye", "identity", "ones", "zeros"})


@dataclass(frozen=True)
class Initializer:
    """A function of `torch.nn.init` with its arguments."""

    word: str
    arguments: Mapping[str, Any]

    @torch.no_grad()
    def fill(self, tensor: torch.Tensor, generator: torch.Generator | None = None) -> None:
        """Fill `tensor` in place, from `generator` or from torch's global one."""
        chance = {} if self.word in _WITHOUT_CHANCE else {"generator": generator}
        FUNCTIONS[self.word](tensor, **self.arguments, **chance)


def initializer_of(config: AnyInitializer, tensor: torch.Tensor, path: str) -> Initializer:
    """The initializer that a config names for `tensor`. `path` is its path in the config.

    Raises `Mistakes` for an initializer that cannot fill this shape, such as `orthogonal` for a bias.
    """
    word, arguments = initializer_parts(config)
    if not _fits(word, tensor):
        shape = " × ".join(map(str, tensor.shape))
        raise Mistakes.one(path, f"{word!r} cannot fill values of shape {shape}. One that can: 'normal'.")
    return Initializer(word, arguments or _ALONE.get(word, {}))


class Fills(Protocol):
    """Anything that gives a parameter its initial values."""

    def fill(self, tensor: torch.Tensor, generator: torch.Generator | None = None) -> None: ...


class Initialized(nn.Module):
    """A module that keeps the initializers of its own parameters, and of those of modules of a library within it."""

    initializers: Mapping[str, Fills]

    def initialize(self, **initializers: Fills) -> None:
        """Keep the initializers, by parameter, and fill the parameters that are not on the meta device."""
        self.initializers = initializers
        for name, initializer in initializers.items():
            parameter = self.get_parameter(name)
            if not parameter.is_meta:
                initializer.fill(parameter)


def _fits(word: str, tensor: torch.Tensor) -> bool:
    if word == "dirac":
        return tensor.ndim in (3, 4, 5)
    return word in _ANY_SHAPE or tensor.ndim == 2 or (tensor.ndim > 2 and word in _MATRIX_OR_MORE)
