"""The shared files of a run, which belong to the newest attempt."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from trainwright_trainer.rundir import shared_files
from trainwright_trainer.rundir.attempt import Attempt, begin
from trainwright_trainer.rundir.layout import FORMAT
from trainwright_trainer.rundir.preflight import ExistingRun
from trainwright_trainer.storage.local import FolderStorage


def start(storage: FolderStorage, how: ExistingRun) -> Attempt:
    return begin(storage, {"spec": {}}, how, name="flights")


def metrics(attempt: int) -> dict[str, Any]:
    return {"format": FORMAT, "attempt": attempt, "rounds": [{"loss": math.nan}]}


def test_each_is_written_where_the_protocol_says(storage: FolderStorage) -> None:
    attempt = start(storage, ExistingRun.NEW)
    assert shared_files.write_job(attempt, "spec: {}\n")
    assert shared_files.write_resolved(attempt, {"batch_size": 1024}, {"torch": "2"})
    assert shared_files.write_metrics(attempt, metrics(1))
    assert shared_files.write_report(attempt, [b"<html>"])
    assert storage.list() == ["attempts/", "job.yaml", "metrics.json", "report.html", "resolved.json"]
    assert json.loads(storage.read("metrics.json"))["rounds"] == [{"loss": None}]
    assert json.loads(storage.read("resolved.json")) == {
        "format": FORMAT,
        "attempt": 1,
        "resolved": {"batch_size": 1024},
        "versions": {"torch": "2"},
    }


def test_a_resumed_attempt_reads_what_the_one_before_it_left(storage: FolderStorage) -> None:
    first = start(storage, ExistingRun.NEW)
    shared_files.write_resolved(first, {"batch_size": 1024}, {})
    shared_files.write_metrics(first, metrics(1))
    second = start(storage, ExistingRun.RESUME)
    assert shared_files.read_resolved(second) == {"batch_size": 1024}
    found = shared_files.read_metrics(second)
    assert found is not None
    assert found["attempt"] == 1


def test_an_attempt_that_was_thought_dead_leaves_the_newer_ones_files_alone(storage: FolderStorage) -> None:
    late = start(storage, ExistingRun.NEW)
    newer = start(storage, ExistingRun.RESUME)
    shared_files.write_metrics(newer, metrics(2))
    assert not shared_files.write_metrics(late, metrics(1))
    assert not shared_files.write_report(late, [b"late"])
    assert json.loads(storage.read("metrics.json"))["attempt"] == 2
    assert not storage.exists("report.html")


@pytest.mark.parametrize("content", [b"", b"[]", b'{"format": 1, "attempt": 1}', b'{"format": 2}'])
def test_what_cannot_be_read_is_not_there(storage: FolderStorage, content: bytes) -> None:
    attempt = start(storage, ExistingRun.NEW)
    assert shared_files.read_metrics(attempt) is None
    storage.write("metrics.json", [content])
    assert shared_files.read_metrics(attempt) is None


def test_what_is_left_of_a_run_that_was_overwritten_is_not_read(
    storage: FolderStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared_files.write_metrics(start(storage, ExistingRun.NEW), metrics(1))
    with monkeypatch.context() as patch:
        patch.setattr(FolderStorage, "delete", lambda _self, _name: None)
        fresh = start(storage, ExistingRun.OVERWRITE)
    assert storage.exists("metrics.json")
    assert shared_files.read_metrics(fresh) is None
