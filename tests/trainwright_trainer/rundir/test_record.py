"""The outcome of an attempt, in one file."""

from __future__ import annotations

import json

import pytest

from trainwright_trainer.errors import Outcome
from trainwright_trainer.rundir import layout
from trainwright_trainer.rundir.layout import FORMAT
from trainwright_trainer.rundir.record import read_outcome, write_outcome
from trainwright_trainer.storage.local import FolderStorage


def test_no_secret_is_written(storage: FolderStorage) -> None:
    write_outcome(storage, 1, Outcome("crash", "token=hunter2", ("password=hunter2",)))
    assert read_outcome(storage, 1) == Outcome("crash", "token=(hidden)", ("password=(hidden)",))


def test_it_comes_back(storage: FolderStorage) -> None:
    write_outcome(storage, 2, Outcome("done", "test roc_auc 0.75", ("one", "two")))
    assert read_outcome(storage, 2) == Outcome("done", "test roc_auc 0.75", ("one", "two"))
    body = json.loads(storage.read(layout.outcome(2)))
    assert (body["format"], body["attempt"], body["class"], body["exit_code"]) == (FORMAT, 2, "done", 0)


def test_the_log_is_bounded(storage: FolderStorage) -> None:
    write_outcome(storage, 1, Outcome("crash", "x", [f"{n} " + "y" * 1000 for n in range(200)]))
    found = read_outcome(storage, 1)
    assert found is not None
    assert len(found.log) == 50
    assert found.log[-1].startswith("199 ")
    assert max(map(len, found.log)) == 500


@pytest.mark.parametrize("content", [None, b"", b"{", b"[]", b'{"class": "later"}', b'{"class": "done"}'])
def test_what_cannot_be_read_is_no_outcome(storage: FolderStorage, content: bytes | None) -> None:
    if content is not None:
        storage.write(layout.outcome(1), [content])
    assert read_outcome(storage, 1) is None
