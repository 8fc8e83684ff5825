"""A rank that restores a checkpoint needs little more memory than it keeps: its own blocks, and one file at a time."""

from __future__ import annotations

import math
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import torch
from bench.strategies import STATISTICS, model
from tests.ranks import on_ranks

from trainwright_api.config.trainer import LearningRateScheduler
from trainwright_api.resource.job import CheckpointPolicy
from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.loop.best import Best
from trainwright_trainer.loop.monitor import monitored_metric, own_metrics
from trainwright_trainer.loop.staging import Staging
from trainwright_trainer.loop.state import Progress, TrainState
from trainwright_trainer.metrics.model import model_metrics
from trainwright_trainer.optim.plateau import Plateau
from trainwright_trainer.rundir.blocks import TensorSpec
from trainwright_trainer.rundir.checkpoint import Checkpoint
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.retention import Fence
from trainwright_trainer.rundir.writer import CheckpointWriter
from trainwright_trainer.storage.local import FolderStorage
from trainwright_trainer.strategies import engine_for

NAME = CheckpointName(1, 1)


def state_of(ranks: ProcessGroup, strategy: dict[str, Any]) -> TrainState:
    """The state before the first step of a model with 100 M parameters."""
    made, config = model(width=4096, layers=7)
    engine = engine_for(Strategy.model_validate(strategy), ranks)(made, config.trainer, 0.001, ranks)
    best = Best(monitored_metric(config.trainer, {"y": "number"}, own_metrics(config)), 5)
    metrics = model_metrics(config, STATISTICS, running=True)
    return TrainState(0, engine, metrics, Plateau(LearningRateScheduler()), best, Progress(), Staging(ranks.device))


def write(folder: str, strategy: dict[str, Any]) -> None:
    """Write a checkpoint of step 1, whose best weights are those of another step."""
    ranks, storage = ProcessGroup(), FolderStorage(Path(folder))
    state = state_of(ranks, strategy)
    weights = state.engine.weights()
    state.engine.allocate(
        {
            f"{key}.{name}": TensorSpec(weights[name].shape, torch.float32)
            for key in ("exp_avg", "exp_avg_sq")
            for name, _ in state.engine.model.named_parameters()
        },
        state.engine.state().values,
    )
    state.best.weights = state.weights()
    state.progress.step = 1
    with closing(CheckpointWriter(storage, Fence(1), CheckpointPolicy(), lambda *_: None, ranks.beside())) as writer:
        writer.save(state.capture(0.0, None))


def restored(folder: str, strategy: dict[str, Any]) -> float:
    """The peak of this rank's memory in a restore, divided by the bytes that it keeps."""
    state = state_of(ProcessGroup(), strategy)
    checkpoint = Checkpoint(FolderStorage(Path(folder)), NAME)
    weights = sum(block.data.nbytes for block in state.engine.weights().values())
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = memory("VmRSS")
    state.restore(checkpoint)
    rest = [*state.engine.state().tensors.values(), *(state.best.weights or {}).values()]
    kept = weights + sum(block.data.nbytes for block in rest)
    assert kept > 4 * 100_000_000 * 4 / 2 * 0.9, "half of the weights, of the two moments and of the best weights"
    return (weights + memory("VmHWM") - before) / kept


def memory(field: str) -> int:
    """A figure of this process in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the kernel does not tell the peak of a phase")
@pytest.mark.parametrize(
    "strategy", [{"type": "fsdp"}, {"type": "deepspeed", "zero_optimization": {"stage": 3}}], ids=["fsdp", "ZeRO 3"]
)
def test_the_peak_is_at_most_a_fifth_above_what_a_rank_keeps(tmp_path: Path, strategy: dict[str, Any]) -> None:
    on_ranks(2, write, str(tmp_path), strategy)
    ratios = on_ranks(2, restored, str(tmp_path), strategy)
    print(strategy, [round(ratio, 3) for ratio in ratios])
    assert all(math.isfinite(ratio) and ratio <= 1.2 for ratio in ratios)
