"""The writers of several ranks: one checkpoint from all, in the order that rank 0 chooses, or none."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.checkpoints import tensors_of
from tests.ranks import on_ranks

from trainwright_api.resource.job import CheckpointPolicy
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.rundir import listing
from trainwright_trainer.rundir.blocks import Block, own_part
from trainwright_trainer.rundir.checkpoint import Checkpoint
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.retention import Fence
from trainwright_trainer.rundir.snapshot import Position, Snapshot
from trainwright_trainer.rundir.writer import CheckpointWriter
from trainwright_trainer.storage.local import FolderStorage


class Slow(FolderStorage):
    """A disk that takes a while for each file, and that refuses files whose names begin with `refused`."""

    seconds = 0.0
    refused: str | None = None

    def write(self, name: str, chunks: Any, *, durable: bool = True) -> None:
        time.sleep(self.seconds)
        if self.refused is not None and name.startswith(self.refused):
            raise EnvironmentFailure(f"{name}: the disk is full")
        super().write(name, chunks, durable=durable)


def snapshots(ranks: ProcessGroup, scores: list[float | None]) -> Iterator[Snapshot]:
    """Snapshots of steps 1, 2, 3 …; each weight is its step. The best step so far is 1."""
    for step, score in enumerate(scores, start=1):

        def blocks(value: int) -> dict[str, Block]:
            return {"w": own_part(Block(torch.full((5,), float(value)), (5,)), ranks.rank, ranks.world)}

        own = {f"model.{name}": block for name, block in blocks(step).items()}
        yield Snapshot(Position(step, 0, 0), own, {}, score, 1, blocks(1) if step > 1 else {})


def saved(folder: str, scores: list[float | None], seconds: list[float], refused: list[str | None]) -> list[Any]:
    """Save on this rank. Return the reports of the writer."""
    ranks = ProcessGroup()
    storage = Slow(Path(folder))
    storage.seconds, storage.refused = seconds[ranks.rank], refused[ranks.rank]
    reports: list[Any] = []
    policy = CheckpointPolicy.model_validate({"numToKeep": 100})
    writer = CheckpointWriter(storage, Fence(1), policy, lambda *report: reports.append(report), ranks.beside())
    for snapshot in snapshots(ranks, scores):
        time.sleep(seconds[ranks.rank] / 3)
        writer.save(snapshot)
    writer.close()
    return reports


@pytest.mark.parametrize("seconds", [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.02]], ids=str)
@pytest.mark.parametrize("scores", [[None] * 8, [0.1, None, 0.3, None, None, 0.2, None, None]], ids=str)
def test_every_checkpoint_has_the_blocks_of_one_step_from_all_ranks(
    tmp_path: Path, scores: list[float | None], seconds: list[float]
) -> None:
    first, *others = on_ranks(3, saved, str(tmp_path), scores, seconds, [None, None, None])
    storage = FolderStorage(tmp_path)
    written = listing.complete(storage)
    assert [name for name, error in first] == [str(name) for name in written]
    assert others == [[], []], "only rank 0 reports"
    assert {1, 8} <= {name.step for name in written}
    for name in written:
        assert tensors_of(storage, name)["model.w"].tolist() == [float(name.step)] * 5
        assert all(score is None or step in [one.step for one in written] for step, score in enumerate(scores, 1))


def test_the_best_weights_are_written_once(tmp_path: Path) -> None:
    on_ranks(2, saved, str(tmp_path), [0.1, 0.2, 0.3], [0.0, 0.0], [None, None])
    storage = FolderStorage(tmp_path)
    for name in listing.complete(storage):
        found = Checkpoint(storage, name)
        assert found.best is not None
        assert (found.best.step, found.best.checkpoint) == (1, CheckpointName(1, 1))
        assert not [tensor for tensor in found.specs if tensor.startswith("best.")]


def test_the_best_weights_are_written_again_where_their_checkpoint_could_not_be(tmp_path: Path) -> None:
    refused = "checkpoints/0000000001-1/manifest"
    on_ranks(2, saved, str(tmp_path), [0.1, 0.2, 0.3], [0.0, 0.0], [refused, None])
    storage = FolderStorage(tmp_path)
    second, third = (Checkpoint(storage, name) for name in listing.complete(storage))
    assert "best.w" in second.specs
    assert "best.w" not in third.specs
    assert third.best is not None
    assert third.best.checkpoint == second.name
    third.verify()


def test_a_rank_that_cannot_write_fails_the_checkpoint_of_all(tmp_path: Path) -> None:
    refused = "checkpoints/0000000002-1/shard"
    reports, _ = on_ranks(2, saved, str(tmp_path), [0.1, 0.2, 0.3], [0.0, 0.0], [None, refused])
    storage = FolderStorage(tmp_path)
    assert [name.step for name in listing.names(storage)] == [1, 3]
    assert [error is None for _, error in reports] == [True, False, True]
    assert "the disk is full" in reports[1][1]
