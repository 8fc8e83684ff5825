"""The state of an optimizer of torch, by the names of the parameters: `<key>.<parameter>`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from trainwright_trainer.rundir.blocks import TensorSpec

Named = Mapping[str, nn.Parameter]


def optimizer_tensors(optimizer: Optimizer, named: Named) -> dict[str, torch.Tensor]:
    """The tensors of the state."""
    return {
        f"{key}.{name}": value.detach()
        for name, parameter in _with_state(optimizer, named).items()
        for key, value in optimizer.state[parameter].items()
        if isinstance(value, torch.Tensor)
    }


def optimizer_values(optimizer: Optimizer, named: Named) -> dict[str, dict[str, Any]]:
    """The state that is not a tensor, by parameter."""
    found = {
        name: {key: value for key, value in optimizer.state[parameter].items() if not isinstance(value, torch.Tensor)}
        for name, parameter in _with_state(optimizer, named).items()
    }
    return {name: values for name, values in found.items() if values}


def allocate_optimizer(
    optimizer: Optimizer, named: Named, specs: Mapping[str, TensorSpec], values: Mapping[str, Mapping[str, Any]]
) -> None:
    """Replace the whole state. The tensors of `specs` get their memory, and no values."""
    optimizer.state.clear()
    for name, plain in values.items():
        optimizer.state[named[name]].update(plain)
    for path, spec in specs.items():
        key, _, name = path.partition(".")
        parameter = named[name]
        device = device_of_steps(optimizer, parameter) if key == "step" else parameter.device
        shape = parameter.shape if spec.shape else ()
        optimizer.state[parameter][key] = torch.empty(shape, dtype=spec.dtype, device=device)


def device_of_steps(optimizer: Optimizer, parameter: torch.Tensor) -> torch.device:
    """The device of the step count of a parameter: that of the parameter for a fused optimizer, else the CPU."""
    is_fused = optimizer.param_groups[0].get("fused")  # Horovod makes its optimizer of the groups alone
    return parameter.device if is_fused else torch.device("cpu")


def _with_state(optimizer: Optimizer, named: Named) -> dict[str, nn.Parameter]:
    return {name: one for name, one in named.items() if one in optimizer.state}
