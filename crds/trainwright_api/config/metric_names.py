"""The metrics of each output type, with Ludwig's names, and the direction of each."""

from __future__ import annotations

from typing import Literal

Direction = Literal["min", "max"]

_DISTANCES: dict[str, Direction] = {
    "loss": "min",
    "mean_squared_error": "min",
    "mean_absolute_error": "min",
    "mean_absolute_percentage_error": "min",
    "root_mean_squared_error": "min",
    "root_mean_squared_percentage_error": "min",
    "r2": "max",
}
_CLASSES: dict[str, Direction] = {"loss": "min", "accuracy": "max", "accuracy_micro": "max", "hits_at_k": "max"}
_VECTORS: dict[str, Direction] = {
    "loss": "min",
    "mean_squared_error": "min",
    "mean_absolute_error": "min",
    "root_mean_squared_error": "min",
    "r2": "max",
}
_TOKENS: dict[str, Direction] = {
    "loss": "min",
    "token_accuracy": "max",
    "sequence_accuracy": "max",
    "last_accuracy": "max",
    "edit_distance": "min",
    "perplexity": "min",
}

METRICS: dict[str, dict[str, Direction]] = {
    "number": _DISTANCES,
    "binary": {
        "loss": "min",
        "accuracy": "max",
        "precision": "max",
        "recall": "max",
        "specificity": "max",
        "roc_auc": "max",
    },
    "category": _CLASSES,
    "category_distribution": _CLASSES,
    "vector": _VECTORS,
    "timeseries": {**_VECTORS, "mean_absolute_percentage_error": "min"},
    "set": {"loss": "min", "jaccard": "max"},
    "sequence": _TOKENS,
    "text": _TOKENS,
    "image": {"loss": "min"},
    "combined": {"loss": "min"},
}
"""Output type (or `combined`, all outputs together) → metric → whether small or large is good."""

DEFAULT_METRIC: dict[str, str] = {
    "number": "mean_squared_error",
    "binary": "roc_auc",
    "category": "accuracy",
    "vector": "mean_squared_error",
    "set": "jaccard",
}
"""Output type → the metric, where neither the trainer section nor the output names one. Other types have the loss."""
