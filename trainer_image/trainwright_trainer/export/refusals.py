"""What a graph cannot express. Each case is refused by its name in the config, before any work starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from trainwright_api.config import ModelConfig
from trainwright_api.problems import Mistakes, Problem
from trainwright_trainer.layers.batch_norm import BatchNorm
from trainwright_trainer.layers.convolution import Convolution
from trainwright_trainer.models.model import Model

INPUTS = ("number", "binary", "category", "date", "vector", "set", "bag", "sequence", "text")
OUTPUTS = ("number", "binary", "category", "vector", "set")
"""The feature types of graphs."""


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


def _norms_of_batches(config: ModelConfig, model: Model, to: str) -> list[tuple[str, str]]:  # noqa: ARG001
    if all(module.tracks for module in model.modules() if isinstance(module, BatchNorm)):
        return []
    return [("config", "a batch norm with track_running_stats: false makes a prediction depend on the rows beside it")]


def _wide_convolutions(config: ModelConfig, model: Model, to: str) -> list[tuple[str, str]]:
    is_wide = config.trainer.precision == "float64" and to == "onnx"
    if not is_wide or not any(isinstance(module, (Convolution, torch.nn.RNNBase)) for module in model.modules()):
        return []
    return [
        ("config.trainer.precision", "'float64': onnxruntime has convolutions and recurrent layers in float32 only")
    ]


_RULES: tuple[Callable[[ModelConfig, Model, str], list[tuple[str, str]]], ...] = (_norms_of_batches, _wide_convolutions)
