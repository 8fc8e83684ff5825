"""The cases that a graph cannot express. Each is refused by its name in the config, before any work starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from trainwright_api.config import ModelConfig
from trainwright_api.problems import Mistakes, Problem
from trainwright_trainer.layers.batch_norm import BatchNorm
from trainwright_trainer.layers.convolution import Convolution
from trainwright_trainer.models.model import Model

INPUTS = ("number", "binary", "category", "date", "vector", "set", "bag", "sequence", "text", "image")
OUTPUTS = ("number", "binary", "category", "vector", "set", "sequence", "text")
"""The feature types of graphs."""
UNTRACED: Mapping[str, tuple[str, ...]] = {"longformer": ("onnx", "torch_export"), "xlnet": ("onnx",)}
"""Encoders whose library computes with values that no graph has, and the formats."""


def refuse(config: ModelConfig, model: Model, to: str) -> None:
    """Raise `Mistakes` for all parts of a model that its graph cannot have. `to`: onnx or torch_export."""
    sections: Mapping[str, tuple[Any, tuple[str, ...]]] = {
        "input_features": (config.input_features, INPUTS),
        "output_features": (config.output_features, OUTPUTS),
    }
    problems = [
        Problem(f"config.{section}[{position}].type", f"{feature.type!r} cannot be exported to {to}: {_INSTEAD}")
        for section, (features, types) in sections.items()
        for position, feature in enumerate(features)
        if feature.type not in types
    ]
    problems += [Problem(path, line) for find in _RULES for path, line in find(config, model, to)]
    if problems:
        raise Mistakes(problems)


_INSTEAD = "use format safetensors, or trainwright predict"


@contextmanager
def refused_by_torch(to: str) -> Iterator[None]:
    """Turn an error of torch, which cannot trace or convert a model of a library, into one line."""
    try:
        yield
    except Exception as error:  # of many classes, each with a page of advice
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        line = str(cause).strip().partition("\n")[0] or type(cause).__name__
        raise Mistakes.one("config", f"torch cannot export this model to {to}: {_INSTEAD} ({line})") from error


def _norms_of_batches(config: ModelConfig, model: Model, to: str) -> list[tuple[str, str]]:  # noqa: ARG001
    if all(module.tracks for module in model.modules() if isinstance(module, BatchNorm)):
        return []
    return [("config", "a batch norm with track_running_stats: false makes a prediction depend on the rows beside it")]


def _encoders(config: ModelConfig, model: Model, to: str) -> list[tuple[str, str]]:  # noqa: ARG001
    words = {f"config.input_features[{at}].encoder": one.encoder.type for at, one in enumerate(config.input_features)}
    return [
        (f"{path}.type", f"{word!r} cannot be exported to {to}: {_INSTEAD}")
        for path, word in words.items()
        if to in UNTRACED.get(word, ())
    ]


def _wide_convolutions(config: ModelConfig, model: Model, to: str) -> list[tuple[str, str]]:
    is_wide = config.trainer.precision == "float64" and to == "onnx"
    if not is_wide or not any(
        isinstance(module, (Convolution, torch.nn.Conv2d, torch.nn.RNNBase)) for module in model.modules()
    ):
        return []
    return [
        ("config.trainer.precision", "'float64': onnxruntime has convolutions and recurrent layers in float32 only")
    ]


_RULES: tuple[Callable[[ModelConfig, Model, str], list[tuple[str, str]]], ...] = (
    _norms_of_batches,
    _encoders,
    _wide_convolutions,
)
