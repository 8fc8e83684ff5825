"""The search with real steps; `tests/trainwright_trainer/test_batch_size_search.py` has its decisions."""

from __future__ import annotations

import torch

from trainwright_trainer.batch_size_search import fastest_batch_size


def test_the_search_touches_neither_the_model_nor_what_comes_after(job):
    one, other = job(combiner={"norm": "batch", "dropout": 0.2}), job(combiner={"norm": "batch", "dropout": 0.2})
    before = one.weights()
    looks = iter(range(10_000))
    size = fastest_batch_size(one.config.trainer, one.model, one.splits["train"], 64, clock=lambda: float(next(looks)))
    assert size == 16  # every step takes one second on this clock, so the largest is the fastest
    assert all(torch.equal(value, before[name]) for name, value in one.weights().items())
    assert all(parameter.grad is None for parameter in one.model.parameters())
    one.train()
    other.train()
    assert all(torch.equal(value, other.weights()[name]) for name, value in one.weights().items())
