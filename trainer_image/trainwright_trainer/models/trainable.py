"""The protocol of a model. Engines and the training loop use nothing else of it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, Literal, Protocol, cast

import torch
from torch import nn

from trainwright_trainer.loader.batch import Batch

Tensors = Mapping[str, torch.Tensor]


class Trainable(Protocol):
    """A model (an `nn.Module`) whose outputs have names."""

    def __call__(self, batch: Batch) -> Tensors:
        """Logits by output feature; in training also a penalty for each row, if the model has one."""
        ...

    def losses(self, logits: Tensors, batch: Batch) -> Tensors:
        """The loss of each row, by output feature, and the penalty, if the logits have one: [rows] each."""
        ...

    def tokens(self, batch: Batch) -> Mapping[str, int]:
        """The tokens in the targets of each output whose loss is a mean over tokens, not over rows."""
        ...

    def total(self, means: Tensors) -> torch.Tensor:
        """The weighted sum of the outputs' mean losses, and the mean of the penalty: a scalar."""
        ...

    def regularization(self, kind: Literal["l1", "l2", "l1_l2"], factor: float) -> torch.Tensor:
        """The penalty on the weights: a scalar."""
        ...

    def initial_weights(self) -> Iterator[tuple[str, torch.Tensor]]:
        """The initial values of the parameters on the meta device, one at a time, on the CPU."""
        ...

    def blocks(self) -> Iterator[nn.Module]:
        """The parts that a sharded engine gathers one at a time."""
        ...

    def train(self, mode: bool = True) -> Any: ...

    def eval(self) -> Any: ...

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]: ...

    def state_dict(self) -> dict[str, Any]: ...


def allocate(model: Trainable, device: torch.device) -> None:
    """Give the parameters on the meta device their memory and their initial values, one at a time, on `device`.

    Everything else of the model moves to `device` too.
    """
    module = cast(nn.Module, model)
    for name, values in model.initial_weights():
        replace_parameter(module, name, values.to(device))
    module.to(device)


def replace_parameter(module: nn.Module, name: str, values: torch.Tensor) -> None:
    """Make `values` the parameter `name`, trained or frozen as before."""
    owner, _, local = name.rpartition(".")
    trained = module.get_parameter(name).requires_grad
    setattr(module.get_submodule(owner), local, nn.Parameter(values, requires_grad=trained))


def assign(model: Trainable, weights: Tensors, device: torch.device) -> None:
    """Make `weights` the tensors of a model on the meta device, and move it to `device`."""
    module = cast(nn.Module, model)
    given: Any = OrderedDict(weights)
    given._metadata = cast(Any, module.state_dict())._metadata  # MNASNet refuses weights without a version
    module.load_state_dict(given, assign=True)
    module.to(device)
