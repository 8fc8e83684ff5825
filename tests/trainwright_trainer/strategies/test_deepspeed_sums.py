"""The sums of gradients that run beside ZeRO's backward pass. Its training is tested in tests/laws."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import patch

import numpy as np
import pytest
import torch
from deepspeed.comm.torch import TorchBackend
from tests.ranks import on_ranks
from torch import nn

from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.distributed.ranks import Ranks
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.strategies.deepspeed import Deepspeed
from trainwright_trainer.strategies.deepspeed_sums import RunningSums, can_run_beside_backward

BUCKET = 10
SECONDS = 30


class FakeEngine:
    """The parts of DeepSpeed's engine and optimizer that `RunningSums` replaces. A sum waits until it may end."""

    def __init__(self, on: bool = True, stage: int = 2) -> None:
        self.on, self.stage = on, stage
        self.optimizer: Any = self
        self.reduce_bucket_size = BUCKET
        self.done: list[str] = []
        self.may_end = threading.Semaphore(0)

    def zero_optimization(self) -> bool:
        return self.stage > 0

    def zero_optimization_stage(self) -> int:
        return self.stage

    def zero_overlap_comm(self) -> bool:
        return self.on

    def reduce_ready_partitions_and_remove_grads(self, parameter: nn.Parameter, number: int) -> None:
        assert self.may_end.acquire(timeout=SECONDS)
        if parameter.isnan().any():
            raise RuntimeError("gloo: connection closed")
        assert not torch.is_grad_enabled()
        self.done.append(f"{len(parameter)} of group {number}")

    def _backward_epilogue(self) -> None:
        self.done.append("the pass ends")


def gradients(engine: FakeEngine, *sizes: int) -> None:
    for size in sizes:
        engine.reduce_ready_partitions_and_remove_grads(nn.Parameter(torch.zeros(size)), 1)


def test_the_backward_pass_goes_on_until_two_buckets_wait() -> None:
    engine = FakeEngine()
    sums = RunningSums(engine)
    gradients(engine, 8, 4, 8)
    assert engine.done == []
    engine.may_end.release()
    gradients(engine, 6)  # 26 elements would wait, and two buckets have 20: it waits for the first
    assert engine.done == ["8 of group 1"]
    engine.may_end.release(3)
    engine._backward_epilogue()
    assert engine.done == [*(f"{size} of group 1" for size in (8, 4, 8, 6)), "the pass ends"]
    sums.close()


def test_a_gradient_above_two_buckets_waits_for_those_before_it_alone() -> None:
    engine = FakeEngine()
    sums = RunningSums(engine)
    gradients(engine, 50)
    engine.may_end.release()
    gradients(engine, 60)
    assert engine.done == ["50 of group 1"]
    engine.may_end.release()
    engine._backward_epilogue()
    sums.close()


def test_an_error_of_the_thread_is_raised_in_the_pass() -> None:
    engine = FakeEngine()
    sums = RunningSums(engine)
    engine.may_end.release()
    engine.reduce_ready_partitions_and_remove_grads(nn.Parameter(torch.tensor([float("nan")])), 0)
    with pytest.raises(RuntimeError, match="connection closed"):
        engine._backward_epilogue()
    assert engine.done == []
    sums.close()


@pytest.mark.parametrize(
    ("engine", "device", "world", "can"),
    [
        (FakeEngine(), "cpu", 2, True),
        (FakeEngine(), "cpu", 1, False),
        (FakeEngine(), "cuda", 2, False),
        (FakeEngine(on=False), "cpu", 2, False),
        (FakeEngine(stage=0), "cpu", 2, False),
    ],
    ids=["two CPUs", "one rank", "GPUs", "overlap_comm: false", "stage 0"],
)
def test_only_sums_that_no_stream_moves_use_the_thread(engine: FakeEngine, device: str, world: int, can: bool) -> None:
    ranks = cast(Ranks, SimpleNamespace(device=torch.device(device), world=world))
    assert can_run_beside_backward(engine, ranks) is can


class Network(nn.Module):
    """Three layers, each larger than a bucket."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(*(nn.Linear(4, 4, device="meta") for _ in range(3)))

    def initial_weights(self) -> Any:
        for number, (name, one) in enumerate(self.named_parameters()):
            if one.is_meta:
                yield name, torch.linspace(-1, 1, one.numel()).reshape(one.shape) * (1 + number)

    def forward(self, batch: Batch) -> torch.Tensor:
        found: torch.Tensor = self.layers(batch.floats)
        return found


def threads_of_sums(stage: int, overlap: bool) -> tuple[list[str], dict[str, list[float]]]:
    """The thread of each sum of gradients in three steps, and this rank's weights."""
    options = {"stage": stage, "overlap_comm": overlap, "reduce_bucket_size": 12}
    section = Strategy.model_validate({"type": "deepspeed", "zero_optimization": options})
    trainer = TrainerConfig.model_validate({"precision": "float32", "optimizer": {"type": "adam"}})
    network: Any = Network()
    ranks = ProcessGroup()
    engine = Deepspeed(section, network, trainer, 0.1, ranks)
    batch = Batch(torch.arange(8.0).reshape(2, 4) - ranks.rank, torch.zeros((2, 0), dtype=torch.int64), np.arange(2))
    threads: list[str] = []
    of_deepspeed = {name: getattr(TorchBackend, name) for name in ("all_reduce", "reduce_scatter_tensor")}

    def recorded(name: str) -> Any:
        def sum_(*given: Any, **named: Any) -> Any:
            threads.append(threading.current_thread().name.partition("_")[0])
            return of_deepspeed[name](*given, **named)

        return sum_

    for _ in range(3):
        found = cast(Any, engine.forward(batch, last=True))
        with patch.multiple(TorchBackend, **{name: recorded(name) for name in of_deepspeed}):
            engine.accumulate(found.square().sum() / 100)
        engine.update(0.1)
    weights = {name: block.data.tolist() for name, block in engine.weights().items()}
    engine.finish()
    return threads, weights


def beside_and_awaited() -> list[tuple[Any, Any]]:
    return [(threads_of_sums(stage, overlap=True), threads_of_sums(stage, overlap=False)) for stage in (1, 2, 3)]


def test_the_thread_sums_all_but_the_last_bucket_and_changes_no_bit() -> None:
    for stages in on_ranks(2, beside_and_awaited):
        for (threads, weights), (awaited, expected) in stages:
            assert set(awaited) == {"MainThread"}
            assert threads == (["zero-sums"] * (len(awaited) // 3 - 1) + ["MainThread"]) * 3
            assert weights == expected
