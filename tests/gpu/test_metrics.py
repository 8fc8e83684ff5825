"""Metrics of rows on this machine's GPU. `make test-gpu` runs these tests; elsewhere they are skipped."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from tests.laws.parity_job import STATISTICS, Case, config_of, rows_of

from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.metrics import base, binary
from trainwright_trainer.metrics.model import ModelMetrics

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def feed(metrics: ModelMetrics, batch: Batch) -> None:
    """Rows whose logits are their own targets with a small error."""
    logits = {"late": batch.floats[:, 2] - 0.4, "delay": batch.floats[:, 3] + 0.1}
    logits["why"] = torch.nn.functional.one_hot(batch.ints[:, 1], 4).to(batch.floats.dtype)
    metrics.update(logits, dict.fromkeys(logits, batch.floats[:, 3]), batch)


@pytest.mark.parametrize("folded", [64, 10_000])
def test_scores_are_those_of_the_cpu(folded: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "FOLDED_TOGETHER", folded)
    monkeypatch.setattr(binary, "MOST_KEPT", 100)
    rows, there, plain = (
        rows_of(Case(), "train"),
        *(ModelMetrics(config_of(Case()), STATISTICS, running=True) for _ in range(2)),
    )
    for start in range(0, 300, 30):
        feed(plain, rows.part(start, start + 30))
        feed(there, rows.part(start, start + 30).on(torch.device("cuda")))
        if start == 150:
            there.load(deepcopy(there.tensors()))
    assert there.compute().keys() == plain.compute().keys()
    for output, scores in plain.compute().items():
        assert there.compute()[output] == pytest.approx(scores, rel=1e-9), output
    found, expected = there.tensors(), plain.tensors()
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        torch.testing.assert_close(found[name], tensor, rtol=1e-9, atol=1e-12)
    there.reset()
    assert there.compute() == {}
