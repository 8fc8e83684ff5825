"""Drawing groups again is the same as computing the metrics of their rows, each as often as it is drawn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from trainwright_trainer.metrics.model import ModelMetrics
from trainwright_trainer.metrics.resampling import Resampling

Make = Callable[..., ModelMetrics]
Feed = Callable[..., None]
COUNTS = np.array([2, 0, 1, 3, 0])


def rows_of(type_: str) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    if type_ == "category":
        return torch.randn(50, 4, generator=generator), torch.randint(0, 4, (50,), generator=generator)
    if type_ == "vector":
        return torch.randn(50, 3, generator=generator), torch.randn(50, 3, generator=generator)
    logits = torch.randn(50, generator=generator)
    return logits, (logits + torch.randn(50, generator=generator) > 0).float()


@pytest.mark.parametrize("type_", ["binary", "number", "category", "vector"])
def test_each_type_of_output(make: Make, feed: Feed, type_: str) -> None:
    logits, targets = rows_of(type_)
    losses = torch.arange(50, dtype=torch.float64)
    groups, again = [], make(type_)
    for place, count in enumerate(COUNTS):
        part = slice(10 * place, 10 * (place + 1))
        group = make(type_)
        for metrics in (group, *[again] * int(count)):
            feed(metrics, logits[part], targets[part], losses[part])
        groups.append(group.outputs["y"])
    found = Resampling(groups).scores(COUNTS)
    assert found == pytest.approx(again.compute()["y"])
    assert Resampling(groups).scores(COUNTS) == found  # the groups stay as they are
