"""The background writer: snapshots that wait or are dropped, and a full disk, which does not end training."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import torch
from tests.checkpoints import snapshot_of, write

from trainwright_api.resource.job import CheckpointPolicy
from trainwright_trainer.distributed.ranks import OneRank
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.rundir import listing
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.retention import Fence
from trainwright_trainer.rundir.writer import CheckpointWriter
from trainwright_trainer.storage.local import FolderStorage


def quiet(_name: str, _error: str | None) -> None: ...


def keeping(count: int) -> CheckpointPolicy:
    return CheckpointPolicy.model_validate({"numToKeep": count})


class Gate(FolderStorage):
    """A disk on which writes block until `open` is set, and which is full if `full` is set."""

    open = threading.Event()
    started = threading.Event()
    full = False

    def write(self, name: str, chunks: Any, *, durable: bool = True) -> None:
        self.started.set()
        assert self.open.wait(60)
        if self.full:
            raise EnvironmentFailure(f"{self.path(name)}: the disk is full")
        super().write(name, chunks, durable=durable)


@pytest.fixture
def gate(storage: FolderStorage) -> Gate:
    gate = Gate(storage.root)
    gate.open, gate.started = threading.Event(), threading.Event()
    return gate


@pytest.fixture
def reports() -> list[tuple[str, str | None]]:
    return []


@pytest.fixture
def writer(gate: Gate, reports: list[tuple[str, str | None]]) -> Iterator[CheckpointWriter]:
    with closing(
        CheckpointWriter(gate, Fence(1), keeping(100), lambda *report: reports.append(report), OneRank())
    ) as writer:
        yield writer
        gate.open.set()


def steps(storage: FolderStorage) -> list[int]:
    return [name.step for name in listing.complete(storage)]


def test_save_returns_while_the_disk_stands_still_and_flush_waits(
    gate: Gate, writer: CheckpointWriter, reports: list[tuple[str, str | None]], snapshot: Any
) -> None:
    writer.save(snapshot(1))
    assert gate.started.wait(60)
    assert steps(gate) == []
    gate.open.set()
    writer.flush()
    assert steps(gate) == [1]
    assert reports == [("0000000001-1", None)]


@pytest.mark.parametrize(
    ("scores", "written"),
    [
        pytest.param([None, None, None, None], [1, 4], id="the newest replaces the one that waits"),
        pytest.param([None, 0.5, None, None], [1, 2, 4], id="a timed one does not push out an evaluated one"),
        pytest.param([None, 0.5, None, 0.4], [1, 2, 4], id="a newer evaluated one pushes out no other"),
        pytest.param([None, None, 0.5, None], [1, 3, 4], id="both kinds may wait"),
        pytest.param([0.1, 0.2, 0.3, 0.4], [1, 2, 3, 4], id="all evaluated ones wait, where they are small"),
    ],
)
def test_what_waits_behind_a_slow_disk(
    gate: Gate, writer: CheckpointWriter, snapshot: Any, scores: list[float | None], written: list[int]
) -> None:
    writer.save(snapshot(1, scores[0]))
    assert gate.started.wait(60)
    for step, score in enumerate(scores[1:], start=2):
        writer.save(snapshot(step, score))
    gate.open.set()
    writer.flush()
    assert steps(gate) == written


def test_a_full_disk_is_reported_and_training_goes_on(
    gate: Gate, writer: CheckpointWriter, reports: list[tuple[str, str | None]], snapshot: Any
) -> None:
    gate.open.set()
    gate.full = True
    writer.save(snapshot(1))
    with pytest.raises(EnvironmentFailure, match="the disk is full"):
        writer.flush()
    assert reports[0][0] == "0000000001-1"
    assert reports[0][1] is not None
    assert "the disk is full" in reports[0][1]
    gate.full = False
    writer.save(snapshot(2))
    writer.flush()
    assert steps(gate) == [2]
    assert listing.names(gate) == [CheckpointName(2, 1)]


def test_close_waits_and_a_failed_last_write_does_not_stop_it(gate: Gate, snapshot: Any) -> None:
    writer = CheckpointWriter(gate, Fence(1), CheckpointPolicy(), quiet, OneRank())
    gate.full = True
    writer.save(snapshot(1))
    gate.open.set()
    writer.close()
    assert steps(gate) == []


def test_close_without_a_save(gate: Gate) -> None:
    CheckpointWriter(gate, Fence(1), CheckpointPolicy(), quiet, OneRank()).close()


def test_a_bug_in_the_background_does_not_pass_in_silence(gate: Gate) -> None:
    gate.open.set()
    writer = CheckpointWriter(gate, Fence(1), CheckpointPolicy(), quiet, OneRank())
    writer.save(snapshot_of({"t": torch.zeros(1, dtype=torch.complex128)}))
    with pytest.raises(TypeError, match="complex128"):
        writer.flush()
    with pytest.raises(TypeError, match="complex128"):
        writer.close()


def test_it_prunes_by_the_policy_after_each_and_clears_torn_writes(storage: FolderStorage, snapshot: Any) -> None:
    storage.write("checkpoints/0000000001-1/shard-00001-deadbeef.safetensors", [b"torn"])
    storage.write("checkpoints/0000000001-2/shard-00001-deadbeef.safetensors", [b"of a newer attempt"])
    with closing(CheckpointWriter(storage, Fence(1), keeping(2), quiet, OneRank())) as writer:
        for step, score in enumerate([0.3, 0.1, 0.2, 0.5, 0.6], start=2):
            writer.save(snapshot(step, score))
            writer.flush()
    assert steps(storage) == [3, 4, 5, 6]
    assert CheckpointName(1, 2) in listing.names(storage)
    assert CheckpointName(1, 1) not in listing.names(storage)


def test_scores_of_earlier_attempts_are_read_from_their_manifests(storage: FolderStorage, snapshot: Any) -> None:
    for step, score in enumerate([0.9, 0.1, 0.8], start=1):
        write(storage, snapshot(step, score))
    write(storage, snapshot(4, 0.5), attempt=2)
    fence = Fence(attempt=3, horizon=2, pinned=CheckpointName(4, 2))
    with closing(CheckpointWriter(storage, fence, keeping(2), quiet, OneRank())) as writer:
        writer.save(snapshot(5))
    assert [str(name) for name in listing.complete(storage)] == ["0000000002-1", "0000000004-2", "0000000005-3"]


def test_rubbish_that_cannot_be_deleted_costs_no_checkpoint(
    storage: FolderStorage, snapshot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stuck(_self: FolderStorage, name: str) -> None:
        raise EnvironmentFailure(f"{name}: no permission")

    reports: list[tuple[str, str | None]] = []
    with closing(
        CheckpointWriter(storage, Fence(1), CheckpointPolicy(), lambda *report: reports.append(report), OneRank())
    ) as writer:
        for step in range(1, 4):
            writer.save(snapshot(step))
            writer.flush()
        monkeypatch.setattr(FolderStorage, "delete", stuck)
        writer.save(snapshot(4))
        writer.flush()
    assert steps(storage) == [1, 2, 3, 4]
    assert reports[-1] == (
        "0000000004-1",
        "older checkpoints could not be deleted: checkpoints/0000000001-1/manifest.json: no permission",
    )
