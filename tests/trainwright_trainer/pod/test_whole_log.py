from __future__ import annotations

from pathlib import Path

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.pod import whole_log
from trainwright_trainer.pod.whole_log import WholeLog
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.local import FolderStorage

NAME = "logs/attempt-1/train-0.log"


@pytest.fixture
def folder(tmp_path: Path) -> FolderStorage:
    return FolderStorage(tmp_path)


def test_each_sending_writes_all_lines_and_hides_secrets(folder: FolderStorage) -> None:
    with WholeLog(lambda: folder, NAME) as log:
        assert log.send() == ""
        assert folder.list() == []
        log.add("epoch 1\nAWS_SECRET_ACCESS_KEY=")
        log.add("hunter2-hunter2\n")
        assert log.send() == ""
        log.add("epoch 2 \udc80")
        assert log.send() == ""
    text = folder.read(NAME).decode()
    assert text.startswith("epoch 1\nAWS_SECRET_ACCESS_KEY=")
    assert text.endswith("\nepoch 2 \\udc80")
    assert "hunter2" not in text


def test_it_is_sent_while_the_process_runs(folder: FolderStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_log, "SEND_SECONDS", 0.01)
    with WholeLog(lambda: folder, NAME) as log:
        log.add("epoch 1\n")
        while not folder.exists(NAME):
            pass
    assert folder.read(NAME) == b"epoch 1\n"


def test_a_log_that_is_too_long_is_cut_with_one_line(folder: FolderStorage) -> None:
    with WholeLog(lambda: folder, NAME, most=2**20) as log:
        log.add("x" * (2**20 - 1) + "\n")
        log.add("more\n")
        log.add("and more\n")
        log.send()
    assert folder.read(NAME).decode().splitlines()[1:] == ["", whole_log.CUT.format(1).strip()]


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file")
    with WholeLog(lambda: FolderStorage(tmp_path), NAME) as log:
        log.add("epoch 1\n")
        assert "logs" in log.send()


def test_a_folder_that_cannot_be_opened_is_reported() -> None:
    def refuses() -> Storage:
        raise Mistakes.one("output", "no such bucket")

    with WholeLog(refuses, NAME) as log:
        log.add("epoch 1\n")
        assert "no such bucket" in log.send()
