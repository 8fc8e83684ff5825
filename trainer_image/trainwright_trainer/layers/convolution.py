"""Ludwig's 1D convolutions over sequences: convolution → norm → activation → dropout → pooling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from trainwright_api.config.encoders.recurrent import ConvLayer
from trainwright_api.config.initializers import AnyInitializer
from trainwright_api.config.layers import NormParams
from trainwright_api.problems import Mistakes
from trainwright_trainer.layers.fully_connected import activation
from trainwright_trainer.layers.initializers import Initialized, initializer_of
from trainwright_trainer.layers.model_block import ModelBlock
from trainwright_trainer.layers.normalisation import norm
from trainwright_trainer.layers.steps import Steps, Window, pooled

_PLAIN = {"strides": 1, "padding": "same", "dilation_rate": 1, "pool_strides": None, "pool_padding": "same"}
"""The values of an encoder without these fields."""
_NULL_MEANS_NONE = ("norm", "activation", "pool_size", "pool_strides")


@dataclass(frozen=True)
class ConvSettings:
    """One convolution. The field names are those of a config; `path` is their prefix there."""

    num_filters: int
    filter_size: int
    strides: int
    padding: str
    dilation_rate: int
    use_bias: bool
    weights_initializer: AnyInitializer
    bias_initializer: AnyInitializer
    norm: str | None
    norm_params: NormParams | None
    activation: str | None
    dropout: float
    pool_function: str
    pool_size: int | None
    pool_strides: int | None
    pool_padding: str
    path: str

    def changed_by(self, layer: ConvLayer, path: str) -> ConvSettings:
        """This layer with the values of one entry of `conv_layers`. Null removes norm, activation and pooling; for
        other fields it keeps the value of the encoder."""
        given = {name: getattr(layer, name) for name in layer.model_fields_set}
        set_values = {name: value for name, value in given.items() if value is not None or name in _NULL_MEANS_NONE}
        return replace(self, path=path, **set_values)

    @property
    def window(self) -> Window:
        return Window(self.filter_size, self.strides, self.dilation_rate, self.padding)

    @property
    def pool(self) -> Window | None:
        if self.pool_size is None:
            return None
        return Window(self.pool_size, self.pool_strides or self.pool_size, 1, self.pool_padding)

    def steps(self, lengths: torch.Tensor) -> torch.Tensor:
        """The lengths of the output for sequences of these lengths."""
        found = self.window.steps(lengths)
        return found if self.pool is None else self.pool.steps(found)


def conv_settings(config: Any, path: str, prefix: str = "") -> ConvSettings:
    """The convolution that an encoder's section describes. `prefix` is that of `activation` and `dropout` (`conv_`)."""
    names = [field.name for field in fields(ConvSettings) if field.name != "path"]
    found: dict[str, Any] = {name: getattr(config, name, _PLAIN.get(name)) for name in names}
    found |= {name: getattr(config, prefix + name) for name in ("activation", "dropout")}
    return ConvSettings(**found, path=f"{path}.")


def listed(default: ConvSettings, layers: Sequence[ConvLayer], path: str) -> list[ConvSettings]:
    """The layers of a list in the config, of which `path` is the name."""
    return [default.changed_by(layer, f"{path}[{position}].") for position, layer in enumerate(layers)]


class Convolution(ModelBlock, Initialized):
    """values [rows, length, width], lengths → the same of the output. Parts without effect are left out."""

    def __init__(self, width: int, settings: ConvSettings) -> None:
        super().__init__()
        if settings.norm == "ghost":
            raise Mistakes.one(f"{settings.path}norm", "ghost: a convolution takes batch or layer")
        self.output_size, self._settings = settings.num_filters, settings
        self.weight = nn.Parameter(torch.empty(settings.num_filters, width, settings.filter_size))
        self.bias = nn.Parameter(torch.empty(settings.num_filters)) if settings.use_bias else None
        given = {"weight": settings.weights_initializer}
        if settings.use_bias:
            given["bias"] = settings.bias_initializer
        paths = {"weight": f"{settings.path}weights_initializer", "bias": f"{settings.path}bias_initializer"}
        self.initialize(
            **{name: initializer_of(one, self.get_parameter(name), paths[name]) for name, one in given.items()}
        )
        self.norm = norm(settings.norm, settings.num_filters, settings.norm_params)
        self.activation = activation(settings.activation)
        self.dropout = nn.Dropout(settings.dropout) if settings.dropout else None

    def compute(self, values: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        window, pool = self._settings.window, self._settings.pool
        fitted = window.fitted(values.transpose(1, 2))
        found = F.conv1d(fitted, self.weight, self.bias, stride=window.stride, dilation=window.dilation).transpose(1, 2)
        steps = Steps(found, window.steps(lengths))
        if self.norm is not None and torch.compiler.is_exporting():  # no moments are needed: all steps are normalised
            found = self.norm(found.flatten(0, 1)).view_as(found)
        elif self.norm is not None:
            # The moments of batch norm are those of the steps that count.
            found = torch.zeros_like(found).masked_scatter(steps.mask.unsqueeze(2), self.norm(found[steps.mask]))
        for part in (self.activation, self.dropout):
            if part is not None:
                found = part(found)
        steps = steps.with_values(found)
        values, lengths = steps if pool is None else pooled(steps, pool, self._settings.pool_function)
        return values, lengths


class ConvolutionStack(nn.Module):
    """Layers of parallel convolutions, whose outputs stand side by side; a layer of one is a plain convolution.

    Raises `Mistakes` for parallel convolutions whose outputs differ in length. `path`: their name in the config.
    """

    def __init__(self, width: int, layers: Sequence[Sequence[ConvSettings]], path: str) -> None:
        super().__init__()
        self.output_size = width
        self._first = [parallel[0] for parallel in layers]
        self.layers = nn.ModuleList()
        for parallel in layers:
            _check_equal_lengths(parallel, path)
            self.layers.append(nn.ModuleList(Convolution(self.output_size, one) for one in parallel))
            self.output_size = sum(one.num_filters for one in parallel)

    def length(self, length: int) -> int:
        """The steps of the output for an input of `length` steps."""
        lengths = torch.tensor([length], device="cpu")
        for settings in self._first:
            lengths = settings.steps(lengths).clamp(min=1)
        return int(lengths)

    def forward(self, steps: Steps) -> Steps:
        for layer in self.layers:
            assert isinstance(layer, nn.ModuleList)
            found = [convolution(*steps) for convolution in layer]
            steps = Steps(torch.cat([values for values, _ in found], 2), found[0][1])
        return steps


def _check_equal_lengths(parallel: Sequence[ConvSettings], path: str) -> None:
    lengths = torch.arange(64, device="cpu")
    if len({tuple(one.steps(lengths).tolist()) for one in parallel}) > 1:
        found = "parallel convolutions have outputs of different lengths"
        raise Mistakes.one(path, f"{found}: give them the same strides, padding and pooling")
