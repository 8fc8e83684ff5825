"""Models of a library within ours: without memory at first, then with the library's own or stored initial values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import nn

from trainwright_trainer.layers.initializers import Fills

Tensors = Mapping[str, torch.Tensor]


def emptied(model: nn.Module) -> nn.Module:
    """The model with its buffers, and with parameters on the meta device."""
    for name, parameter in list(model.named_parameters()):
        owner, _, local = name.rpartition(".")
        setattr(model.get_submodule(owner), local, nn.Parameter(parameter.to("meta")))
    return model


def made_aside(make: Callable[[], nn.Module], seed: int | None = None) -> nn.Module:
    """A model on the CPU. torch's generator stays as it is; `seed`: that of the library's random values."""
    with torch.device("cpu"), torch.random.fork_rng(devices=[]):
        if seed is not None:
            torch.default_generator.manual_seed(seed)
        return make()


class InitialValues:
    """The initial values of `model`, a model of a library: stored ones, or those that `make` draws.

    They are made when the first one is needed, from the generator of the first parameter, and each is given away once.
    Stored buffers go into `model` at once.
    """

    def __init__(self, model: nn.Module, make: Callable[[], nn.Module], stored: Callable[[], Tensors] | None) -> None:
        self._model, self._make, self._stored = model, make, stored
        self._values: dict[str, torch.Tensor] = {}

    def initializers(self, prefix: str) -> dict[str, Fills]:
        """The initializers of all parameters, with `prefix` before their names."""
        return {f"{prefix}.{name}": _Value(self, name) for name, _ in self._model.named_parameters()}

    def take(self, name: str, seed: int) -> torch.Tensor:
        """The value of a parameter. Raises `Mistakes` if there are no stored values."""
        if name not in self._values:
            self._read(seed)
        return self._values.pop(name)

    @torch.no_grad()
    def _read(self, seed: int) -> None:
        if self._stored is None:
            self._values = {name: one.detach() for name, one in made_aside(self._make, seed).named_parameters()}
            return
        found = dict(self._stored())
        for name, buffer in self._model.named_buffers():
            if name in found:
                buffer.copy_(found.pop(name))
        self._values = found


@dataclass(frozen=True)
class _Value:
    values: InitialValues
    name: str

    @torch.no_grad()
    def fill(self, tensor: torch.Tensor, generator: torch.Generator | None = None) -> None:
        seed = torch.initial_seed() if generator is None else generator.initial_seed()
        tensor.copy_(self.values.take(self.name, seed))
