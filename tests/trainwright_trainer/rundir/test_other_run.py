"""A run that starts from the checkpoint of another one, and runs of another format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.checkpoints import write

from trainwright_api.problems import Mistakes
from trainwright_trainer.rundir import layout
from trainwright_trainer.rundir.attempt import AttemptReference, brought_up
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.preflight import ExistingRun, look
from trainwright_trainer.rundir.retention import Fence
from trainwright_trainer.rundir.start_point import SourceCheckpoint, run_and_checkpoint
from trainwright_trainer.storage.local import FolderStorage

from .started_attempt import JOB, harm, job, start, written_start


def another_run(folder: Path, snapshot: Any, *steps: int, content: str | None = None) -> FolderStorage:
    """A run with checkpoints of these steps."""
    other = FolderStorage(folder)
    start(other, content=content)
    for step in steps:
        write(other, snapshot(step))
    return other


def test_a_run_can_start_from_another_runs_checkpoint(storage: FolderStorage, snapshot: Any, tmp_path: Path) -> None:
    other = another_run(tmp_path / "other", snapshot, 5)
    attempt = start(storage, source=SourceCheckpoint(other))
    assert attempt.start_from is not None
    assert attempt.start_from.position.step == 5
    assert (attempt.pinned, attempt.fence) == (None, Fence(attempt=1, horizon=1))
    assert written_start(storage, 1)["source"] == other.location
    with pytest.raises(Mistakes, match=r"resumeFrom: .*third holds no run"):
        start(FolderStorage(tmp_path / "fourth"), source=SourceCheckpoint(FolderStorage(tmp_path / "third")))


def test_the_reference_names_the_other_run(storage: FolderStorage, snapshot: Any, tmp_path: Path) -> None:
    other = another_run(tmp_path / "other", snapshot, 5)
    reference = AttemptReference.of(start(storage, source=SourceCheckpoint(other)))
    there = reference.attempt(storage, lambda run: FolderStorage(Path(run))).start_from
    assert there is not None
    assert (there.position.step, there.storage.location) == (5, other.location)
    write(storage, snapshot(7))
    brought, _ = brought_up(storage, reference)
    here = brought.attempt(storage, lambda run: FolderStorage(Path(run))).start_from
    assert here is not None
    assert (here.position.step, here.storage.location) == (7, storage.location)


def test_a_retry_before_the_first_checkpoint_starts_from_the_other_run_again(
    storage: FolderStorage, snapshot: Any, tmp_path: Path
) -> None:
    other = another_run(tmp_path / "other", snapshot, 5)
    source = SourceCheckpoint(other)
    start(storage, ExistingRun.CONTINUE, source=source)
    second = start(storage, ExistingRun.CONTINUE, source=source)
    assert second.start_from is not None
    assert (second.number, second.start_from.storage.location, second.notices) == (2, other.location, ())
    write(storage, snapshot(7), attempt=2)
    third = start(storage, ExistingRun.CONTINUE, source=source)
    assert third.start_from is not None
    assert (third.start_from.position.step, third.start_from.storage.location) == (7, storage.location)
    assert written_start(storage, 3)["source"] is None


def test_one_checkpoint_of_the_other_run_can_be_named(storage: FolderStorage, snapshot: Any, tmp_path: Path) -> None:
    other = another_run(tmp_path / "other", snapshot, 5, 9)
    attempt = start(storage, source=SourceCheckpoint(other, CheckpointName(5, 1)))
    assert attempt.start_from is not None
    assert attempt.start_from.position.step == 5
    harm(other, CheckpointName(9, 1))
    third = FolderStorage(tmp_path / "third")
    with pytest.raises(Mistakes, match=r"resumeFrom: .*0000000009-1/ is no whole checkpoint: "):
        start(third, source=SourceCheckpoint(other, CheckpointName(9, 1)))
    with pytest.raises(Mistakes, match=r"resumeFrom: .*0000000007-1/ is no whole checkpoint: manifest.json is missing"):
        start(third, source=SourceCheckpoint(other, CheckpointName(7, 1)))


def test_a_checkpoint_of_another_job_is_refused(storage: FolderStorage, snapshot: Any, tmp_path: Path) -> None:
    other = another_run(tmp_path / "other", snapshot, 5, content="abc")
    with pytest.raises(Mistakes) as refused:
        start(storage, wanted=job(seed=1), content="abc", source=SourceCheckpoint(other))
    assert str(refused.value) == (
        "resumeFrom: a checkpoint is for the same job, but seed: is 1, the run has 42. "
        "To begin with its weights only, name its model"
    )
    with pytest.raises(Mistakes, match=r"dataset: its content is not the data that the run was begun with"):
        start(storage, content="def", source=SourceCheckpoint(other))
    assert start(storage, wanted=job(epochs=9), content="abc", source=SourceCheckpoint(other)).start_from is not None


def test_a_checkpoint_goes_on_with_another_learning_rate_and_from_any_link_of_a_chain(
    storage: FolderStorage, snapshot: Any, tmp_path: Path
) -> None:
    def with_rate(rate: float, source: str | None) -> dict[str, Any]:
        wanted = job()
        wanted["spec"]["config"]["trainer"]["learning_rate"] = rate
        return wanted if source is None else {"spec": {**wanted["spec"], "resumeFrom": source}}

    first = FolderStorage(tmp_path / "first")
    start(first, wanted=with_rate(0.1, None))
    write(first, snapshot(5))
    second = FolderStorage(tmp_path / "second")
    start(second, wanted=with_rate(0.2, "first"), source=SourceCheckpoint(first))
    write(second, snapshot(9))
    found = start(storage, wanted=with_rate(0.3, "second"), source=SourceCheckpoint(second)).start_from
    assert found is not None
    assert found.position.step == 9


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("out/a", None),
        ("out/a/model", None),
        ("out/a/checkpoints/", ("out/a", None)),
        ("checkpoints", (".", None)),
        ("s3://runs/a/checkpoints/0000001200-3", ("s3://runs/a", CheckpointName(1200, 3))),
    ],
)
def test_the_location_of_a_checkpoint(location: str, expected: object) -> None:
    assert run_and_checkpoint(location) == expected


def test_a_name_that_no_checkpoint_has() -> None:
    with pytest.raises(Mistakes, match=r"^resumeFrom: 'last' is no name of a checkpoint, such as 0000001200-1$"):
        run_and_checkpoint("out/a/checkpoints/last")


def in_format_one(storage: FolderStorage) -> FolderStorage:
    """A run as the versions before outputs had a start wrote it."""
    start(storage)
    storage.write(layout.start(1), [json.dumps({**written_start(storage, 1), "format": 1}).encode()])
    return storage


@pytest.mark.parametrize("how", [ExistingRun.RESUME, ExistingRun.CONTINUE])
def test_a_run_of_another_format_is_refused_in_one_line(storage: FolderStorage, how: ExistingRun) -> None:
    in_format_one(storage)
    with pytest.raises(Mistakes) as refused:
        look(storage, JOB, how)
    assert str(refused.value) == (
        f"{storage.location} holds a run of format 1, this version reads 4. "
        "Use the version that wrote it, or train anew into another --output."
    )
    assert start(storage, ExistingRun.OVERWRITE).fresh


def test_a_run_does_not_start_from_one_of_another_format(storage: FolderStorage, tmp_path: Path) -> None:
    other = in_format_one(FolderStorage(tmp_path / "other"))
    with pytest.raises(Mistakes, match=r"^resumeFrom: .*other holds a run of format 1, this version reads 4\."):
        start(storage, source=SourceCheckpoint(other))
