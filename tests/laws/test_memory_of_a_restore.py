"""A rank that restores a checkpoint needs little more memory than it keeps: its own blocks, and one file at a time."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.ranks import on_ranks

from trainwright_api.config import ModelConfig, resolve
from trainwright_api.config.trainer import LearningRateScheduler
from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.loop.best import Best
from trainwright_trainer.loop.monitor import monitors_of, own_metrics
from trainwright_trainer.loop.staging import Staging
from trainwright_trainer.loop.state import Progress, TrainState
from trainwright_trainer.metrics.model import model_metrics
from trainwright_trainer.models.model import Model
from trainwright_trainer.optim.plateau import Plateau
from trainwright_trainer.rundir.blocks import TensorSpec, prefixed
from trainwright_trainer.rundir.checkpoint import Checkpoint
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.manifest import BestWeights
from trainwright_trainer.rundir.write import write_manifest, write_shards
from trainwright_trainer.storage.local import FolderStorage
from trainwright_trainer.strategies import engine_for

WIDTH, LAYERS = 4096, 7
NUMBER = {"type": "number", "mean": 0.0, "std": 1.0, "normalization": None, "scale": 1.0, "shift": 0.0}
STATISTICS: dict[str, Any] = {"x": NUMBER, "y": {**NUMBER, "encoded": {"mean": 0.0, "std": 1.0}}}
NAME = CheckpointName(1, 1)


def state_of(ranks: ProcessGroup, strategy: dict[str, Any]) -> TrainState:
    """The state before the first step of a model with 100 M parameters."""
    config = resolve(
        ModelConfig.model_validate(
            {
                "input_features": [{"name": "x", "type": "number"}],
                "output_features": [{"name": "y", "type": "number"}],
                "combiner": {"type": "concat", "num_fc_layers": LAYERS, "output_size": WIDTH},
                "trainer": {"optimizer": {"type": "adam"}},
            }
        )
    )
    model = Model(config, STATISTICS, layout_of(config, STATISTICS), seed=0)
    engine = engine_for(Strategy.model_validate(strategy), ranks.world)(model, config.trainer, 0.001, ranks)
    monitors = monitors_of(config.trainer, {"y": "number"}, own_metrics(config))
    metrics = model_metrics(config, STATISTICS, running=True)
    plateau = Plateau(LearningRateScheduler(), monitors.plateau.direction)
    return TrainState(0, engine, metrics, plateau, Best(monitors.validation, 5), Progress(), Staging(ranks.device))


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
    snapshot = state.capture(0.0, None)
    blocks = {**snapshot.tensors, **prefixed("best", snapshot.best)}
    parts = ranks.gather(write_shards(storage, NAME, blocks, ranks.rank))
    if ranks.rank == 0:
        write_manifest(storage, NAME, snapshot, parts, BestWeights(0, None))


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
