"""The content hash of a data set: of the bytes and, for several files, of their names. It is cached between changes."""

from __future__ import annotations

import os
from concurrent.futures import wait
from threading import Event

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.data.cache import Cache
from trainwright_trainer.data.content import Contents
from trainwright_trainer.data.files import find
from trainwright_trainer.storage.local import FolderStorage


@pytest.fixture
def content(tmp_path):
    def of(path, cache=None):
        contents = Contents(find(str(path)), cache or Cache(FolderStorage(tmp_path / "cache")))
        remembered = contents.remembered()
        if remembered is not None:
            return remembered, True
        contents.start()
        found = contents.finish()
        assert contents.cache.finish() == ()
        return found, False

    return of


def test_a_file_is_remembered_until_it_changes(tmp_path, content):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n")
    first, _ = content(path)
    assert content(path) == (first, True)
    path.write_text("a\n2\n")
    second, remembered = content(path)
    assert not remembered
    assert second != first
    path.write_text("a\n1\n")
    assert content(path) == (first, False)


@pytest.mark.parametrize("change", ["mtime", "size", "inode"])
def test_each_mark_of_a_change_counts(tmp_path, content, change):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n")
    content(path)
    before = path.stat()
    if change == "mtime":
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    elif change == "size":
        path.write_text("a\n1\n2\n")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    else:
        (tmp_path / "other").write_text("a\n3\n")
        os.replace(tmp_path / "other", path)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert content(path)[1] is False


def test_only_content_counts(tmp_path, content):
    for folder, name in (("one", "a.csv"), ("two", "b.csv")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text("a\n1\n")
    assert content(tmp_path / "one/a.csv")[0] == content(tmp_path / "two/b.csv")[0]
    assert content(tmp_path / "one")[0] != content(tmp_path / "two")[0]
    os.rename(tmp_path / "two/b.csv", tmp_path / "two/a.csv")
    assert content(tmp_path / "one")[0] == content(tmp_path / "two")[0]


def test_the_same_bytes_in_another_format_are_another_content(tmp_path, content):
    for name in ("x.csv", "x.tsv"):
        (tmp_path / name).write_text("a\n1\n")
    assert content(tmp_path / "x.csv")[0] != content(tmp_path / "x.tsv")[0]


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n")
    contents = Contents(find(str(path)), Cache(FolderStorage(tmp_path / "cache")))
    contents.start()
    path.write_text("a\n1\n2\n")
    with pytest.raises(Mistakes, match=r"dataset: 'x\.csv' changed while it was read"):
        contents.finish()


def test_a_file_that_was_just_written_is_remembered_safely(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n")
    waited = []
    monkeypatch.setattr("trainwright_trainer.data.content.time.sleep", waited.append)
    monkeypatch.setattr("trainwright_trainer.data.content.time.time_ns", lambda: path.stat().st_mtime_ns + 5_000_000)
    Contents(find(str(path)), Cache(FolderStorage(tmp_path / "cache"))).start()
    assert waited == [0.015]


def test_no_further_file_is_hashed_for_a_run_that_has_failed(tmp_path, monkeypatch):
    for name in "abc":
        (tmp_path / f"{name}.csv").write_text("a\n1\n")
    begun, ended = Event(), Event()
    monkeypatch.setattr("trainwright_trainer.data.content._sha256", lambda _: begun.set() or ended.wait(60))
    contents = Contents(find(f"{tmp_path}/*.csv"), Cache(FolderStorage(tmp_path / "cache")))
    contents.start()
    begun.wait(60)
    contents.stop()
    ended.set()
    wait(contents._hashes)
    assert [future.cancelled() for future in contents._hashes] == [False, True, True]
