"""Weights of another model as initial values. A tensor is taken if this model has one with its name and its shape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import torch


class InitialWeights(dict[str, torch.Tensor]):
    """Tensors on the CPU, by name. Copies of a model share them."""

    def __deepcopy__(self, _: dict[int, object]) -> InitialWeights:
        return self


@dataclass(frozen=True)
class Taken:
    """The names of the tensors that begin with given values, and of the others, with the reason for each."""

    taken: tuple[str, ...]
    others: Mapping[str, str]

    def line(self, location: str) -> str:
        """One line, with the parts of the model that begin anew: the first two words of their names."""
        whole = len(self.taken) + len(self.others)
        found = f"{len(self.taken)} of {whole} parameters are those of {location}"
        if not self.others:
            return found
        parts = Counter((".".join(name.split(".")[:2]), reason) for name, reason in self.others.items())
        shown = [f"{part} ({count}: {reason})" for (part, reason), count in list(parts.items())[:_SHOWN]]
        more = [f"and {len(parts) - _SHOWN} other parts"] if len(parts) > _SHOWN else []
        return f"{found}; others begin anew: {', '.join([*shown, *more])}"


_SHOWN = 8


def fitting(own: Mapping[str, torch.Tensor], given: Mapping[str, torch.Tensor], unfit: tuple[str, ...] = ()) -> Taken:
    """Compare the tensors of a model with those that are given, by name. `unfit`: prefixes of names that do not fit."""
    others = {}
    for name, tensor in own.items():
        if name not in given:
            others[name] = "not there"
        elif name.startswith(unfit):
            others[name] = "the values of the column differ"
        elif given[name].shape != tensor.shape:
            others[name] = f"shape {_shape(given[name])} there, {_shape(tensor)} here"
    return Taken(tuple(name for name in own if name not in others), others)


def _shape(tensor: torch.Tensor) -> str:
    return "×".join(map(str, tensor.shape)) or "scalar"
