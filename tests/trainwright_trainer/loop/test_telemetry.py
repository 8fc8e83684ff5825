from __future__ import annotations

import socket

import numpy as np
import pytest
import torch

from trainwright_trainer.distributed.ranks import OneRank
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loop.telemetry import OnCpu, OnGpu, Telemetry
from trainwright_trainer.strategies.single import Single


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def batches(clock, seconds):
    """A loader that takes the given seconds for each batch."""
    for each in seconds:
        clock.now += each
        yield Batch(torch.empty(0), torch.empty(0), np.empty(0, dtype=np.int64))


class Waiting(OneRank):
    """A rank that shares a batch norm with others and waits for them for two seconds in each pass."""

    def __init__(self, clock) -> None:
        super().__init__()
        self.clock = clock

    def computes(self, seconds) -> None:
        self.clock.now += seconds
        with self.watch.waiting():
            self.clock.now += 2
        self.watch.computed()
        self.clock.now += 7  # the wait for the gradients of other ranks


def test_a_ranks_own_part_is_the_loader_and_its_work_without_waiting():
    clock = Clock()
    ranks = Waiting(clock)
    meter = Telemetry(ranks, clock)
    computing = iter([50.0, 1.0, 2.0, 3.0])
    for _ in meter.timed(batches(clock, [0.5, 0.5, 0.25, 0.75])):
        ranks.computes(next(computing))
    one = meter.round(100.0)
    assert (one.rank, one.host) == (0, socket.gethostname())
    assert one.step_seconds == 25.0
    assert one.loader_seconds == 0.5
    assert one.own_seconds == pytest.approx((1.5 + 2.25 + 3.75) / 3), "the very first step warms up"
    assert 10_000_000 < one.memory_bytes < 10**12
    assert (one.gpu_memory_bytes, one.gpu_use) == (None, None)


def test_ranks_may_wait_before_the_first_step():
    """A resumed run that has nothing left to train collects the weights of its best round."""
    watch = OnCpu(Clock())
    with watch.waiting():
        pass
    assert watch.mean() == 0


def test_a_round_begins_anew_and_one_step_is_enough():
    clock = Clock()
    ranks = Waiting(clock)
    meter = Telemetry(ranks, clock)
    found = []
    for at, _ in enumerate(meter.timed(batches(clock, [1.0, 2.0, 3.0]))):
        ranks.computes(10.0 * at)
        if at != 1:
            found.append(meter.round(1.0))
    assert [(one.own_seconds, one.loader_seconds) for one in found] == [(1.0, 1.0), (17.5, 2.5)]


def test_a_cpu_is_measured_in_the_first_steps_and_in_each_eighth_and_its_loader_in_all_of_them():
    clock = Clock()
    own = OnCpu(clock)
    measured = []
    for step in range(20):
        own.begin()
        own.loaded(20.0 if step == 9 else 0.0)
        clock.now += step
        own.computed()
        if own.measuring:
            measured.append(step)
    assert measured == [0, 1, 2, 3, 4, 5, 6, 7, 8, 16]
    assert own.mean() == pytest.approx(20.0 / 20 + sum(measured) / len(measured))
    own.forget()
    assert own.mean() == 0.0
    own.begin()
    assert own.measuring


def test_the_last_of_several_passes_computes_the_gradients(job):
    one, calls, ranks = job(), [], OneRank()

    class Watch:
        def computed(self) -> None:
            calls.append(len(calls))

    ranks.watch = Watch()
    engine = Single(one.model, one.config.trainer, 0.01, ranks)
    batch = next(one.splits["train"].sequential(4))
    for last in (False, True):
        losses = one.model.losses(engine.forward(batch, last=last), batch)
        assert not calls
        engine.accumulate(one.model.total({name: rows.sum() for name, rows in losses.items()}))
    assert calls == [0]


class Mark:
    """A fake CUDA event that completes two steps after `record`. The GPU's clock is an attribute of the class."""

    now, done = 0.0, 0.0

    def __init__(self, enable_timing) -> None:
        assert enable_timing

    def record(self) -> None:
        self.at = Mark.now

    def query(self) -> bool:
        return Mark.done >= self.at

    def synchronize(self) -> None:
        Mark.done = max(Mark.done, self.at)

    def elapsed_time(self, other) -> float:
        assert other.query()
        return (other.at - self.at) * 1000


def test_a_gpu_is_never_waited_for_but_at_the_end_of_a_round(monkeypatch):
    monkeypatch.setattr(torch.cuda, "Event", Mark)
    own = OnGpu()
    for step in range(7):
        Mark.now, Mark.done = step * 10.0, step * 10.0 - 15
        own.begin()
        own.loaded(0.0)
        Mark.now += step
        own.computed()
    assert Mark.done == 45.0
    assert own.mean() == pytest.approx((0 + 2 + 4 + 6) / 4), "each second step, and at last the one under way"
    own.forget()
    assert own.mean() == 0.0
