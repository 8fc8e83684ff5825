"""Ludwig's 2D convolutions over images: convolution → norm → activation → dropout → pooling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, cast

import torch
from torch import nn

from trainwright_api.config.encoders.image import Conv2DLayer
from trainwright_api.config.layers import NormParams
from trainwright_api.problems import Mistakes
from trainwright_trainer.layers.fully_connected import activation
from trainwright_trainer.layers.image_batch_norm import ImageBatchNorm
from trainwright_trainer.layers.initializers import Initialized, Initializer
from trainwright_trainer.layers.model_block import ModelBlock

Pair = int | list[int]
_NULL_MEANS_NONE = ("conv_norm", "conv_activation", "pool_kernel_size", "pool_stride")


@dataclass(frozen=True)
class Conv2DSettings:
    """One convolution. The field names are those of a config; `path` is their prefix there."""

    out_channels: int
    kernel_size: Pair
    stride: Pair
    padding: Pair | str | None
    padding_mode: str
    dilation: Pair
    groups: int
    conv_use_bias: bool
    conv_norm: str | None
    conv_norm_params: NormParams | None
    conv_activation: str | None
    conv_dropout: float
    pool_function: str
    pool_kernel_size: Pair | None
    pool_stride: Pair | None
    pool_padding: Pair | None
    pool_dilation: Pair | None
    path: str

    @classmethod
    def of(cls, config: Any, path: str) -> Conv2DSettings:
        """The convolution that an encoder's section describes."""
        names = [field.name for field in fields(cls) if field.name != "path"]
        return cls(**{name: getattr(config, name) for name in names}, path=f"{path}.")

    def changed_by(self, layer: Conv2DLayer, path: str) -> Conv2DSettings:
        """This layer with the values of one entry of `conv_layers`. Null removes norm, activation and pooling; for
        other fields it keeps the value of the encoder."""
        given = {name: getattr(layer, name) for name in layer.model_fields_set}
        set_values = {name: value for name, value in given.items() if value is not None or name in _NULL_MEANS_NONE}
        return replace(self, path=path, **set_values)

    def size(self, pixels: tuple[int, int]) -> tuple[int, int]:
        """Height and width of the output. Raises `Mistakes` if the input is too small."""
        found = pixels
        if self.padding != "same":
            pads = 0 if self.padding in ("valid", None) else cast(Pair, self.padding)
            found = _windows(found, self.kernel_size, self.stride, pads, self.dilation)
            self._check(found, pixels, "kernel_size")
        if self.pool_kernel_size is not None:
            stride = self.pool_kernel_size if self.pool_stride is None else self.pool_stride
            before, dilation = found, self.pool_dilation or 1
            found = _windows(found, self.pool_kernel_size, stride, self.pool_padding or 0, dilation)
            self._check(found, before, "pool_kernel_size")
        return found

    def _check(self, found: tuple[int, int], pixels: tuple[int, int], field: str) -> None:
        if min(found) < 1:
            shown = " × ".join(map(str, pixels))
            line = f"{getattr(self, field)}: its input has {shown} pixels; give larger images or fewer layers"
            raise Mistakes.one(f"{self.path}{field}", line)


def _windows(pixels: tuple[int, int], kernel: Pair, stride: Pair, padding: Pair, dilation: Pair) -> tuple[int, int]:
    """The number of places of a window in each direction."""
    sizes = zip(pixels, *map(_pair, (kernel, stride, padding, dilation)), strict=True)
    first, second = (math.floor((n + 2 * pad - d * (k - 1) - 1) / s) + 1 for n, k, s, pad, d in sizes)
    return first, second


def _pair(value: Pair) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else (value[0], value[1])


class Conv2d(nn.Conv2d, Initialized):
    """`nn.Conv2d` with torch's initial values, drawn by `initialize`."""

    def reset_parameters(self) -> None:
        """Called by `nn.Conv2d`. Draws nothing."""

    def initialize_like_torch(self) -> None:
        bound = 1 / math.sqrt(self.weight[0].numel())
        given = {"weight": Initializer("kaiming_uniform", {"a": math.sqrt(5)})}
        if self.bias is not None:
            given["bias"] = Initializer("uniform", {"a": -bound, "b": bound})
        self.initialize(**given)


class Convolution2D(ModelBlock):
    """[rows, channels, height, width] → the same of the output. Parts without effect are left out."""

    def __init__(self, channels: int, pixels: tuple[int, int], settings: Conv2DSettings) -> None:
        super().__init__()
        self.output_size = settings.size(pixels)
        _check_fits(channels, settings)
        _check_mode(pixels, settings)
        self.convolution = Conv2d(
            channels,
            settings.out_channels,
            _pair(settings.kernel_size),
            _pair(settings.stride),
            settings.padding if isinstance(settings.padding, str) else _pair(settings.padding or 0),
            _pair(settings.dilation),
            settings.groups,
            bias=settings.conv_use_bias,
            padding_mode=cast(Any, settings.padding_mode),
        )
        self.convolution.initialize_like_torch()
        before_pool = replace(settings, pool_kernel_size=None).size(pixels)
        self.norm = _norm(settings, before_pool)
        self.activation = activation(settings.conv_activation)
        self.dropout = nn.Dropout(settings.conv_dropout) if settings.conv_dropout else None
        self.pool = _pool(settings)

    def compute(self, images: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = self.convolution(images)
        for part in (self.norm, self.activation, self.dropout, self.pool):
            if part is not None:
                hidden = part(hidden)
        return hidden


def _check_fits(channels: int, settings: Conv2DSettings) -> None:
    if channels % settings.groups or settings.out_channels % settings.groups:
        found = f"{settings.groups}: it divides neither {channels} nor {settings.out_channels} channels evenly"
        raise Mistakes.one(f"{settings.path}groups", found)
    if settings.padding == "same" and _pair(settings.stride) != (1, 1):
        raise Mistakes.one(f"{settings.path}padding", f"same: it needs stride 1, found {settings.stride}")
    if settings.pool_kernel_size is None:
        return
    if settings.pool_function != "max" and _pair(settings.pool_dilation or 1) != (1, 1):
        line = f"{settings.pool_dilation}: only pool_function max has a dilation"
        raise Mistakes.one(f"{settings.path}pool_dilation", line)
    pads, window = _pair(settings.pool_padding or 0), _pair(settings.pool_kernel_size)
    if any(2 * pad > size for pad, size in zip(pads, window, strict=True)):
        line = f"{settings.pool_padding}: at most half of pool_kernel_size {settings.pool_kernel_size}"
        raise Mistakes.one(f"{settings.path}pool_padding", line)


def _check_mode(pixels: tuple[int, int], settings: Conv2DSettings) -> None:
    """Raise `Mistakes` for a padding that copies more pixels than the input has."""
    most = {"reflect": [size - 1 for size in pixels], "circular": list(pixels)}.get(settings.padding_mode)
    if most is None or settings.padding in ("valid", None):
        return
    if settings.padding == "same":
        spans = zip(_pair(settings.dilation), _pair(settings.kernel_size), strict=True)
        pads = [-(-dilation * (size - 1) // 2) for dilation, size in spans]
    else:
        pads = list(_pair(cast(Pair, settings.padding)))
    if any(pad > limit for pad, limit in zip(pads, most, strict=True)):
        shown = " × ".join(map(str, pixels))
        line = (
            f"{settings.padding}: {settings.padding_mode} takes at most {' × '.join(map(str, most))} of {shown} pixels"
        )
        raise Mistakes.one(f"{settings.path}padding", line)


def _norm(settings: Conv2DSettings, pixels: tuple[int, int]) -> nn.Module | None:
    if settings.conv_norm is None:
        return None
    given = settings.conv_norm_params.arguments() if settings.conv_norm_params else {}
    with torch.device("cpu"):  # the values of a norm are constants, so they need not be drawn later
        if settings.conv_norm == "batch":
            return ImageBatchNorm(settings.out_channels, **given)
        return nn.LayerNorm((settings.out_channels, *pixels), **given)


def _pool(settings: Conv2DSettings) -> nn.Module | None:
    if settings.pool_kernel_size is None:
        return None
    window, pads = _pair(settings.pool_kernel_size), _pair(settings.pool_padding or 0)
    stride = window if settings.pool_stride is None else _pair(settings.pool_stride)
    if settings.pool_function == "max":
        return nn.MaxPool2d(window, stride, pads, _pair(settings.pool_dilation or 1))
    return nn.AvgPool2d(window, stride, pads)


class ConvolutionStack2D(nn.Module):
    """Convolutions one after another. `output_shape`: channels, height and width of the output."""

    def __init__(self, shape: tuple[int, int, int], layers: Sequence[Conv2DSettings]) -> None:
        super().__init__()
        self.layers = nn.ModuleList()
        channels, pixels = shape[0], shape[1:]
        for settings in layers:
            layer = Convolution2D(channels, pixels, settings)
            self.layers.append(layer)
            channels, pixels = settings.out_channels, layer.output_size
        self.output_shape = (channels, *pixels)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            images = layer(images)
        return images
