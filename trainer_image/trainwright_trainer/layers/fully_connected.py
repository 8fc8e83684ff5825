"""The stack that Ludwig calls FCStack: layers of Linear → norm → activation → dropout.

Encoders, the combiner and decoders all describe their stacks with the same config fields, some with the prefix `fc_`.
All of them are read here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, cast

import torch
from torch import nn

from trainwright_api.config.initializers import AnyInitializer
from trainwright_api.config.layers import FullyConnectedLayer as LayerConfig
from trainwright_api.config.layers import NormParams
from trainwright_trainer.layers.initializers import Initialized, initializer_of
from trainwright_trainer.layers.linear_products import Lookup, Part, linear_of_parts, linear_of_rows, side_by_side
from trainwright_trainer.layers.model_block import ModelBlock
from trainwright_trainer.layers.normalisation import norm

# Ludwig's names of activation functions.
ACTIVATIONS: Mapping[str, Callable[[], nn.Module]] = {
    "elu": nn.ELU,
    "leakyRelu": nn.LeakyReLU,
    "logSigmoid": nn.LogSigmoid,
    "relu": nn.ReLU,
    "sigmoid": nn.Sigmoid,
    "softmax": lambda: nn.Softmax(dim=-1),
    "tanh": nn.Tanh,
}


def activation(word: str | None) -> nn.Module | None:
    """The activation as a module; None for null, so that a stack has no module without effect."""
    return None if word is None else ACTIVATIONS[word]()


@dataclass(frozen=True)
class LayerSettings:
    """One layer. The field names are those of a config; `path` is their prefix there, such as `config.combiner.`."""

    output_size: int
    use_bias: bool
    weights_initializer: AnyInitializer | None
    bias_initializer: AnyInitializer | None
    norm: str | None
    norm_params: NormParams | None
    activation: str | None
    dropout: float | None
    path: str

    def changed_by(self, layer: LayerConfig, path: str) -> LayerSettings:
        """This layer with the values of one entry of `fc_layers`. Null as `norm` or `activation` removes it; for other
        fields null keeps the value of the stack."""
        given = {name: getattr(layer, name) for name in layer.model_fields_set}
        set_values = {
            name: value for name, value in given.items() if value is not None or name in ("norm", "activation")
        }
        return replace(self, path=path, **set_values)


_SHARED = tuple(field.name for field in fields(LayerSettings) if field.name != "path")


def stack_of(config: Any, path: str, *, count: str = "num_fc_layers") -> tuple[LayerSettings, ...]:
    """The layers that a config section describes.

    `count` names the field with the number of layers; it is ignored if `fc_layers` lists them. The other fields have
    the prefix `fc_` if the section has such a field: in decoders all, in some combiners a few.
    """
    fields_of = {name: f"fc_{name}" if hasattr(config, f"fc_{name}") else name for name in _SHARED}
    prefix = fields_of["weights_initializer"].removesuffix("weights_initializer")
    default = LayerSettings(
        **{name: getattr(config, field) for name, field in fields_of.items()}, path=f"{path}.{prefix}"
    )
    listed: Sequence[LayerConfig] | None = config.fc_layers
    if listed is None:
        return (default,) * (getattr(config, count) or 0)
    return tuple(default.changed_by(layer, f"{path}.fc_layers[{i}].") for i, layer in enumerate(listed))


class Linear(nn.Linear, Initialized):
    """`nn.Linear` whose values come from the initializers that `initialize` gets."""

    def reset_parameters(self) -> None:
        """Called by `nn.Linear`. Draws nothing."""

    def forward(self, rows: torch.Tensor | Sequence[Part]) -> torch.Tensor:
        """[rows, input_size], whole or in parts → [rows, output_size]."""
        if isinstance(rows, torch.Tensor):
            return linear_of_rows(rows, self.weight, self.bias)
        return linear_of_parts(rows, self.weight, self.bias)


def linear(
    input_size: int,
    output_size: int,
    *,
    use_bias: bool = True,
    weights_initializer: AnyInitializer | None = None,
    bias_initializer: AnyInitializer | None = None,
    path: str = "",
) -> Linear:
    """A linear layer. `path` is the prefix of the initializers' names in the config, if it gives them."""
    layer = Linear(input_size, output_size, bias=use_bias)
    given = {"weight": weights_initializer or "xavier_uniform"}
    if use_bias:
        given["bias"] = bias_initializer or "zeros"
    paths = {"weight": f"{path}weights_initializer", "bias": f"{path}bias_initializer"}
    layer.initialize(
        **{name: initializer_of(one, layer.get_parameter(name), paths[name]) for name, one in given.items()}
    )
    return layer


class FullyConnectedLayer(ModelBlock):
    """[rows, input_size] → [rows, output_size]. Parts without effect are left out."""

    def __init__(self, input_size: int, settings: LayerSettings) -> None:
        super().__init__()
        self.linear = linear(
            input_size,
            settings.output_size,
            use_bias=settings.use_bias,
            weights_initializer=settings.weights_initializer,
            bias_initializer=settings.bias_initializer,
            path=settings.path,
        )
        self.norm = norm(settings.norm, settings.output_size, settings.norm_params)
        self.activation = activation(settings.activation)
        self.dropout = nn.Dropout(settings.dropout) if settings.dropout else None

    def compute(self, rows: torch.Tensor | Sequence[Part]) -> torch.Tensor:
        hidden: torch.Tensor = self.linear(rows)
        for part in (self.norm, self.activation, self.dropout):
            if part is not None:
                hidden = part(hidden)
        return hidden


class FullyConnected(nn.Module):
    """A sequence of layers; an empty one returns its input.

    With `residual`, the input of a layer is added to its output if both have the same width. `units_of_parts`: those of
    the first layer if it can take parts, else 0.
    """

    def __init__(self, input_size: int, layers: Sequence[LayerSettings], *, residual: bool = False) -> None:
        super().__init__()
        self.layers = nn.ModuleList()
        self.output_size = input_size
        self._adds: list[bool] = []
        for settings in layers:
            self.layers.append(FullyConnectedLayer(self.output_size, settings))
            self._adds.append(residual and settings.output_size == self.output_size)
            self.output_size = settings.output_size
        self.units_of_parts = layers[0].output_size if layers and not self._adds[0] else 0

    def forward(self, rows: torch.Tensor | Sequence[Part]) -> torch.Tensor:
        hidden: Any = rows
        for layer, adds in zip(self.layers, self._adds, strict=True):
            hidden = hidden + layer(hidden) if adds else layer(hidden)
        return cast(torch.Tensor, hidden)

    def of_parts(self, parts: Sequence[Part]) -> torch.Tensor:
        """The stack of the parts side by side. The first layer takes them as they are if there is a `Lookup`."""
        is_taken = self.units_of_parts and any(isinstance(one, Lookup) for one in parts)
        found: torch.Tensor = self(parts if is_taken else side_by_side(parts))
        return found
