"""Folders of processes that live are kept; those of the killed are swept."""

from __future__ import annotations

from pathlib import Path

import pytest
from testkit.cluster.locks import PREFIX, Folder

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses


def test_a_folder_goes_when_it_is_removed(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    (folder.path / "file").touch()
    folder.remove()
    assert list(tmp_path.iterdir()) == []


def test_the_next_one_sweeps_what_nobody_holds(tmp_path: Path) -> None:
    left_behind, kept = tmp_path / f"{PREFIX}left", Folder(tmp_path)
    left_behind.mkdir()
    (left_behind / "alive").touch()
    newest = Folder(tmp_path)
    assert set(tmp_path.iterdir()) == {kept.path, newest.path}
    kept.remove()
    newest.remove()


def test_what_others_made_is_not_swept(tmp_path: Path) -> None:
    (tmp_path / f"{PREFIX}of-another-kind").mkdir()
    Folder(tmp_path).remove()
    assert [path.name for path in tmp_path.iterdir()] == [f"{PREFIX}of-another-kind"]
