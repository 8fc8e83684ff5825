"""The start of attempts: new, resumed, overwritten, and refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.checkpoints import write

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import AlreadyDone, EnvironmentFailure, OutcomeClass
from trainwright_trainer.rundir import layout
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.preflight import ExistingRun, look
from trainwright_trainer.rundir.retention import Fence
from trainwright_trainer.storage.local import FolderStorage

from .started_attempt import JOB, end, harm, job, start, written_start


def test_a_new_run(storage: FolderStorage) -> None:
    attempt = start(storage, content="abc", about={"versions": {"torch": "2"}})
    assert (attempt.number, attempt.fresh, attempt.start_from, attempt.notices) == (1, True, None, ())
    found = written_start(storage, 1)
    assert found["fresh"] is True
    assert found["checkpoint"] is None
    assert found["name"] == "flights"
    assert found["content"] == "abc"
    assert found["job"]["seed"] == 42
    assert found["versions"]["torch"] == "2"
    assert found["pid"] == os.getpid()
    assert storage.list() == ["attempts/"]


@pytest.mark.parametrize(
    ("checkpoints", "kind", "words"),
    [
        (0, None, "flights, 0 checkpoints, ended: no, it runs on this machine"),
        (1, "stopped", "flights, 1 checkpoint, ended: stopped"),
        (3, "done", "flights, 3 checkpoints, ended: done"),
    ],
)
def test_another_run_is_in_the_way(
    storage: FolderStorage, snapshot: Any, checkpoints: int, kind: OutcomeClass | None, words: str
) -> None:
    start(storage)
    for step in range(checkpoints):
        write(storage, snapshot(step))
    if kind:
        end(storage, 1, kind)
    with pytest.raises(Mistakes) as caught:
        start(storage)
    assert str(caught.value) == (
        f"{storage.location} holds another run ({words}). "
        "Use --resume to go on with it, --overwrite to start anew, or another --output."
    )


def test_resume_takes_the_newest_checkpoint(storage: FolderStorage, snapshot: Any) -> None:
    start(storage)
    for step in (5, 9, 7):
        write(storage, snapshot(step))
    attempt = start(storage, ExistingRun.RESUME)
    assert attempt.number == 2
    assert not attempt.fresh
    assert attempt.start_from is not None
    assert attempt.start_from.position.step == 9
    assert written_start(storage, 2)["checkpoint"] == "0000000009-1"
    assert written_start(storage, 2)["fresh"] is False
    assert attempt.fence == Fence(attempt=2, horizon=1, pinned=CheckpointName(9, 1))


def test_damaged_and_torn_ones_are_passed_over_with_one_notice_each(storage: FolderStorage, snapshot: Any) -> None:
    start(storage)
    write(storage, snapshot(5))
    start(storage, ExistingRun.RESUME)
    for step, number in ((7, 2), (9, 1), (11, 2)):
        harm(storage, write(storage, snapshot(step), attempt=number))
    storage.delete(CheckpointName(11, 2).manifest)
    attempt = start(storage, ExistingRun.RESUME)
    assert attempt.pinned == CheckpointName(5, 1)
    first, second = attempt.notices
    assert first.startswith("checkpoint 0000000009-1 is damaged and passed over: shard-00000-00001-")
    assert second.startswith("checkpoint 0000000007-2 is damaged and passed over: shard-00000-00001-")


def test_where_no_checkpoint_is_whole_training_begins_at_the_first_row(storage: FolderStorage, snapshot: Any) -> None:
    start(storage)
    harm(storage, write(storage, snapshot(5)))
    attempt = start(storage, ExistingRun.RESUME)
    assert attempt.start_from is None
    assert attempt.notices[-1] == "there is no checkpoint to go on from: training begins at the first row"
    assert attempt.fence == Fence(attempt=2)


def test_resume_where_there_is_no_run(storage: FolderStorage) -> None:
    with pytest.raises(Mistakes, match=r"holds no run to go on with\. Leave --resume out to begin one"):
        start(storage, ExistingRun.RESUME)
    assert not storage.root.exists()


def test_a_pod_goes_on_or_begins_by_itself(storage: FolderStorage, snapshot: Any) -> None:
    assert start(storage, ExistingRun.CONTINUE).number == 1
    write(storage, snapshot(5))
    assert start(storage, ExistingRun.CONTINUE).pinned == CheckpointName(5, 1)


def test_another_job_is_refused_by_its_paths(storage: FolderStorage) -> None:
    start(storage)
    with pytest.raises(Mistakes, match="seed: is 7, the run has 42"):
        start(storage, ExistingRun.RESUME, job(seed=7))
    with pytest.raises(Mistakes, match=r"config\.trainer\.epochs: is 4, the run has 5"):
        start(storage, ExistingRun.RESUME, job(epochs=4))
    assert storage.list(layout.ATTEMPTS) == ["1/"]


def test_other_data_are_refused(storage: FolderStorage) -> None:
    start(storage, content="a")
    with pytest.raises(Mistakes, match="dataset: its content is not the data"):
        start(storage, ExistingRun.RESUME, content="b")


def test_a_run_that_is_done_goes_on_only_with_more_epochs(storage: FolderStorage, snapshot: Any) -> None:
    start(storage)
    write(storage, snapshot(5))
    end(storage, 1, "done")
    with pytest.raises(AlreadyDone, match=r"flights is done\. To train it further, raise trainer\.epochs"):
        start(storage, ExistingRun.RESUME)
    assert start(storage, ExistingRun.RESUME, job(epochs=6)).pinned == CheckpointName(5, 1)
    with pytest.raises(Mistakes, match=r"config\.trainer\.epochs: is 5, the run has 6"):
        start(storage, ExistingRun.RESUME)


def test_overwrite_begins_anew_and_removes_what_is_the_runs_alone(storage: FolderStorage, snapshot: Any) -> None:
    start(storage)
    write(storage, snapshot(5))
    for name in ("metrics.json", "report.html", "resolved.json", "job.yaml", "model/model.json", "logs/attempt-1/x"):
        storage.write(name, [b"old"])
    storage.write("notes.txt", [b"mine"])
    storage.write("checkpoints/mine/notes.txt", [b"mine"])
    attempt = start(storage, ExistingRun.OVERWRITE, job(seed=7))
    assert (attempt.number, attempt.fresh, attempt.start_from) == (2, True, None)
    assert storage.list() == ["attempts/", "checkpoints/", "notes.txt"]
    assert storage.list(layout.ATTEMPTS) == ["2/"]
    assert storage.list(layout.CHECKPOINTS) == ["mine/"]


OF_THE_OLD_MODEL = ("evaluation.html", "evaluation.json", "predictions.parquet", "test_predictions.parquet")


def test_overwrite_removes_what_is_of_the_old_model(storage: FolderStorage) -> None:
    start(storage)
    end(storage, 1, "done")
    for name in (*OF_THE_OLD_MODEL, "export/onnx/model.onnx", "export/safetensors/config.json"):
        storage.write(name, [b"old"])
    for name in ("mine.parquet", "export/onnx/mine.txt", "export/mine/model.onnx"):
        storage.write(name, [b"mine"])
    start(storage, ExistingRun.OVERWRITE)
    assert storage.list() == ["attempts/", "export/", "mine.parquet"]
    assert set(storage.list_tree("export/")) == {"export/onnx/mine.txt", "export/mine/model.onnx"}


def test_what_lies_where_no_run_is_stays(storage: FolderStorage) -> None:
    for name in OF_THE_OLD_MODEL:
        storage.write(name, [b"of another model"])
    start(storage, ExistingRun.OVERWRITE)
    assert storage.list() == ["attempts/", *OF_THE_OLD_MODEL]


def test_overwrite_where_there_is_nothing_is_a_new_run(storage: FolderStorage) -> None:
    assert start(storage, ExistingRun.OVERWRITE).number == 1


def test_a_kill_in_the_middle_of_overwriting_leaves_a_new_run(
    storage: FolderStorage, snapshot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(storage)
    write(storage, snapshot(5))
    end(storage, 1, "done")

    def killed(_self: FolderStorage, _name: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(FolderStorage, "delete", killed)
        with pytest.raises(KeyboardInterrupt):
            start(storage, ExistingRun.OVERWRITE, job(seed=7))
    attempt = start(storage, ExistingRun.RESUME, job(seed=7))
    assert (attempt.number, attempt.first, attempt.start_from) == (3, 2, None)


@pytest.mark.parametrize("how", [ExistingRun.NEW, ExistingRun.OVERWRITE, ExistingRun.CONTINUE])
def test_a_folder_of_the_users_own_is_never_touched(storage: FolderStorage, how: ExistingRun) -> None:
    for name in ("model/mine.bin", "metrics.json", "a.csv", "b.csv", ".gitignore"):
        storage.write(name, [b"mine"])
    with pytest.raises(Mistakes, match=r"holds other things \(a.csv, b.csv, metrics.json, …\) and no run"):
        start(storage, how)
    assert storage.list() == ["a.csv", "b.csv", "metrics.json", "model/"]


def test_hidden_files_and_a_volumes_lost_and_found_are_no_other_things(storage: FolderStorage) -> None:
    storage.write(".gitignore", [b"*"])
    storage.write("lost+found/x", [b""])
    assert start(storage).number == 1


def test_a_kill_before_the_start_was_written_leaves_an_empty_place(storage: FolderStorage) -> None:
    storage.write("attempts/1/.start.json.0011223344556677.tmp", [b"torn"])
    assert start(storage).number == 1


@pytest.mark.parametrize("torn", [b"", b'{"format": 2, "att', b"[]", b'{"format": 2}'])
def test_a_torn_start_takes_its_number_and_nothing_else(storage: FolderStorage, snapshot: Any, torn: bytes) -> None:
    start(storage)
    write(storage, snapshot(5))
    storage.write(layout.start(2), [torn])
    attempt = start(storage, ExistingRun.RESUME)
    assert (attempt.number, attempt.pinned) == (3, CheckpointName(5, 1))


def test_a_place_that_cannot_be_written_is_known_at_once(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"mine")
    with pytest.raises(EnvironmentFailure, match="out: a file is where a folder is needed"):
        look(FolderStorage(tmp_path / "out"), JOB, ExistingRun.NEW)


def test_looking_writes_nothing(storage: FolderStorage) -> None:
    assert look(storage, JOB, ExistingRun.NEW) is None
    assert not storage.root.exists()
