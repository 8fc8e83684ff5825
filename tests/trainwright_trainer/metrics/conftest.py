"""Fixtures that build the metrics of one output and add rows to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from trainwright_api.config import ModelConfig, resolve
from trainwright_trainer.loader.batch import Batch, Ragged
from trainwright_trainer.metrics.model import ModelMetrics, model_metrics

STATISTICS: dict[str, dict[str, Any]] = {
    "number": {"normalization": "zscore", "shift": 5.0, "scale": 2.0, "mean": 5.0, "std": 2.0},
    "binary": {"true": "yes", "false": "no", "counts": [7, 3]},
    "category": {"vocabulary": ["x", "y", "z", "w"], "counts": [4, 3, 2, 1]},
    "set": {"vocabulary": ["<UNK>", "a", "b"], "counts": [0, 1, 3]},
    "sequence": {"vocabulary": ["<UNK>", "a", "b"], "counts": [0, 1, 3], "rows": 2},
    "text": {"vocabulary": ["<UNK>", "a", "b"], "counts": [0, 1, 3], "rows": 2},
    "vector": {"size": 3, "mean": [0.5, 0.0, -0.5], "std": [1.0, 1.0, 1.0]},
}

Make = Callable[..., ModelMetrics]
Feed = Callable[..., None]


@pytest.fixture
def make() -> Make:
    """Builds the metrics of one output named `y`."""

    def build(
        type_: str,
        *,
        figures: bool = False,
        running: bool = False,
        statistics: dict[str, Any] | None = None,
        **fields: Any,
    ) -> ModelMetrics:
        tags = {"decoder": "tagger"} if type_ in ("sequence", "text") else {}
        output = {"name": "y", "type": type_, **tags, **fields}
        given = {"input_features": [{"name": "a", "type": "number"}], "output_features": [output]}
        if tags:  # a tagger needs a sequence
            encoder = {"type": "embed", "reduce_output": None}
            given |= {"input_features": [{"name": "a", "type": "sequence", "encoder": encoder}]}
            given |= {"combiner": "sequence_concat"}
        known = {"a": {}, "y": {**STATISTICS[type_], **(statistics or {})}}
        return model_metrics(resolve(ModelConfig.model_validate(given)), known, figures=figures, running=running)

    return build


@pytest.fixture
def feed() -> Feed:
    """Adds logits and targets to metrics as one batch. The default losses are 1, 2, 3, …"""

    def give(
        metrics: ModelMetrics, logits: torch.Tensor, targets: torch.Tensor, losses: torch.Tensor | None = None
    ) -> None:
        rows = len(logits)
        if losses is None:
            losses = torch.arange(1, rows + 1, dtype=torch.float64)
        kind = next(iter(metrics.outputs.values())).feature.type
        if kind in ("set", "sequence", "text"):
            known = targets.bool() if kind == "set" else targets >= 0
            values = known.nonzero()[:, 1] if kind == "set" else targets[known]
            lists = Ragged.of(values.numpy(), np.cumsum([0, *known.sum(1).tolist()]))
            ragged = (lists,) if kind == "set" else (lists, lists)  # the input, then the target
            batch = Batch(torch.zeros(rows, 1), targets[:, :0], np.arange(rows), ragged)
            metrics.update({"y": logits}, {"y": losses}, batch)
            return
        floats, ints = torch.zeros(rows, 1), torch.empty(rows, 0, dtype=torch.int64)
        columns = targets if targets.ndim == 2 else targets[:, None]
        if targets.dtype == torch.int64:
            ints = columns
        else:
            floats = torch.cat([floats.to(columns.dtype), columns], 1)
        metrics.update({"y": logits}, {"y": losses}, Batch(floats, ints, np.arange(rows)))

    return give
