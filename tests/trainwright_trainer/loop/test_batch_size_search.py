"""The search with real steps. `test_batch_size_finder.py` tests its decisions."""

from __future__ import annotations

import time

import torch

from trainwright_trainer.loop import batch_size_finder
from trainwright_trainer.loop.batch_size_finder import fastest_batch_size, training_step
from trainwright_trainer.runtime.threads import computing_with
from trainwright_trainer.strategies.single import Single


def test_the_search_touches_neither_the_model_nor_what_comes_after(job):
    one, other = job(combiner={"norm": "batch", "dropout": 0.2}), job(combiner={"norm": "batch", "dropout": 0.2})
    before = one.weights()
    looks, threads = iter(range(10_000)), torch.get_num_threads()
    found = fastest_batch_size(
        one.config.trainer,
        one.model,
        one.splits["train"],
        [1, 2, 4, 8, 16],
        clock=lambda: float(next(looks)),
    )
    assert found.size == 16  # every step takes one second on this clock, so the largest is the fastest
    assert torch.get_num_threads() == threads
    assert all(torch.equal(value, before[name]) for name, value in one.weights().items())
    assert all(parameter.grad is None for parameter in one.model.parameters())
    one.train()
    other.train()
    assert all(torch.equal(value, other.weights()[name]) for name, value in one.weights().items())


def test_one_thread_computes_its_steps(job, monkeypatch):
    one, seen = job(), []
    step = training_step(one.config.trainer, one.model, one.splits["train"], Single(), 4)

    def watched(rows: int) -> None:
        seen.append(torch.get_num_threads())
        step(rows)

    monkeypatch.setattr(batch_size_finder, "training_step", lambda *_: watched)
    with computing_with(3):
        fastest_batch_size(one.config.trainer, one.model, one.splits["train"], [1, 2, 4])
    assert set(seen) == {1}


def test_other_processes_do_not_count_on_a_cpu(job, monkeypatch):
    """Waiting takes no CPU time. Here each step of the larger size sleeps for ten milliseconds."""
    one = job()
    step = training_step(one.config.trainer, one.model, one.splits["train"], Single(), 16)

    def waiting(rows: int) -> None:
        if rows > 1:
            time.sleep(0.01)
        step(rows)

    monkeypatch.setattr(batch_size_finder, "training_step", lambda *_: waiting)
    found = fastest_batch_size(one.config.trainer, one.model, one.splits["train"], [1, 16])
    assert found.size == 16
