"""A rank is killed in each phase of the write of a checkpoint. The ranks start again, and end with the same weights."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.ranks import on_ranks, on_ranks_until_a_kill

from trainwright_api.resource.job import CheckpointPolicy
from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.rundir.retention import Fence
from trainwright_trainer.rundir.start_point import newest_whole
from trainwright_trainer.rundir.writer import CheckpointWriter
from trainwright_trainer.storage.base import Chunk
from trainwright_trainer.storage.local import FolderStorage

from .parity_job import Case, trained

STEPS = {"effective_batch_size": 64, "batch_size": 64, "early_stop": -1, "train_steps": 40, "steps_per_checkpoint": 5}
KILLED_AT = 20
# The rank, the file, whether the kill comes before the file's first byte, and the step that training resumes from.
PHASES = {
    "a shard of rank 0": (0, "shard-00000", False, 15),
    "a shard of rank 1": (1, "shard-00001", False, 15),
    "before the manifest": (0, "manifest", True, 15),
    "the manifest": (0, "manifest", False, 15),
    "after the manifest": (0, "after", True, 20),
}
STRATEGIES: dict[str, dict[str, Any]] = {
    "ddp": {"type": "ddp"},
    "fsdp": {"type": "fsdp"},
    "horovod": {"type": "horovod"},
    "deepspeed": {"type": "deepspeed", "zero_optimization": {"stage": 3}},
}


class Killing(FolderStorage):
    """A disk whose process is killed in the middle of a write, or before it."""

    file: str | None = None
    before = False

    def write(self, name: str, chunks: Iterable[Chunk], *, durable: bool = True) -> None:
        is_meant = self._is_meant(name)
        if is_meant and self.before:
            os.kill(os.getpid(), signal.SIGKILL)
        super().write(name, self._killing(chunks) if is_meant else chunks, durable=durable)

    def list(self, prefix: str = "") -> list[str]:
        if self._is_meant(f"{prefix}after") and self.exists(f"{prefix}manifest.json"):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().list(prefix)

    def _is_meant(self, name: str) -> bool:
        return self.file is not None and name.startswith(f"checkpoints/{KILLED_AT:010d}-1/{self.file}")

    def _killing(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            yield chunk
            os.kill(os.getpid(), signal.SIGKILL)


def started(folder: str, case: Case, phase: str | None) -> tuple[int, dict[str, Any]]:
    """Train on this rank from the newest checkpoint of `folder`. Return its step, and the weights at the end."""
    ranks, storage = ProcessGroup(), Killing(Path(folder))
    if phase is not None:
        victim, file, before, _ = PHASES[phase]
        storage.file, storage.before = file if ranks.rank == victim else None, before
    found, _ = newest_whole(storage, lambda _: True)
    policy = CheckpointPolicy.model_validate({"numToKeep": 100})
    best = found.best if found else None
    with closing(CheckpointWriter(storage, Fence(1), policy, lambda *_: None, ranks.beside(), best=best)) as writer:
        return found.position.step if found else 0, trained(case, found, writer).weights


def case_of(strategy: str) -> Case:
    half = {"precision": "float32"} if strategy == "deepspeed" else {}
    return Case({**STEPS, **half}, {"norm": "batch"}, engine=Strategy.model_validate(STRATEGIES[strategy]))


@cache
def undisturbed(strategy: str) -> list[dict[str, Any]]:
    """The weights at the end on each rank, without a kill."""
    with tempfile.TemporaryDirectory() as folder:
        return [weights for _, weights in on_ranks(2, started, folder, case_of(strategy), None)]


@pytest.mark.parametrize(
    "phase", [pytest.param(one, marks=pytest.mark.slow) if one == "a shard of rank 1" else one for one in PHASES]
)
@pytest.mark.parametrize(
    "strategy", [name if name == "ddp" else pytest.param(name, marks=pytest.mark.slow) for name in STRATEGIES]
)
def test_training_goes_on_from_the_newest_complete_checkpoint(tmp_path: Path, strategy: str, phase: str) -> None:
    case = case_of(strategy)
    exits = on_ranks_until_a_kill(2, started, str(tmp_path), case, phase)
    assert exits[PHASES[phase][0]] == -signal.SIGKILL
    again = on_ranks(2, started, str(tmp_path), case, None)
    for (step, weights), expected in zip(again, undisturbed(strategy), strict=True):
        assert step == PHASES[phase][3]
        for name, weight in expected.items():
            assert np.array_equal(weights[name], weight), name
