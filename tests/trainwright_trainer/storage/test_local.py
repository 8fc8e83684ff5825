"""Storage in a folder: atomic and exclusive writes, and one line for each failure of a disk."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.local import FolderStorage
from trainwright_trainer.storage.registry import storage_at


@pytest.fixture
def storage(tmp_path: Path) -> FolderStorage:
    return FolderStorage(tmp_path / "deep" / "run")


def test_a_write_makes_its_folders_and_replaces(storage: FolderStorage) -> None:
    storage.write("a/b.txt", [b"one"])
    storage.write("a/b.txt", [b"t", memoryview(b"wo")])
    assert storage.read("a/b.txt") == b"two"
    assert [path.name for path in (storage.root / "a").iterdir()] == ["b.txt"]


def test_a_link_to_a_folder_goes_and_the_folder_stays(storage: FolderStorage, tmp_path: Path) -> None:
    elsewhere = FolderStorage(tmp_path / "elsewhere")
    elsewhere.write("model.json", [b"old"])
    storage.root.mkdir(parents=True)
    (storage.root / "model").symlink_to(elsewhere.root)
    storage.delete_tree("model/")
    assert (storage.list(), elsewhere.list()) == ([], ["model.json"])


def test_only_the_first_creates(storage: FolderStorage) -> None:
    assert storage.create("start.json", b"mine")
    assert not storage.create("start.json", b"yours")
    assert storage.read("start.json") == b"mine"
    assert storage.list() == ["start.json"]


def test_a_folder_that_goes_while_it_is_listed_is_left_out(
    storage: FolderStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("checkpoints/1/a", "checkpoints/2/a"):
        storage.write(name, [b""])
    scandir = os.scandir

    def scan(folder: os.PathLike[str]) -> object:
        if str(folder).endswith("1"):
            raise FileNotFoundError(errno.ENOENT, "it is gone", str(folder))
        if str(folder).endswith("locked"):
            raise PermissionError(errno.EACCES, "not for you", str(folder))
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", scan)
    assert storage.list_tree("checkpoints/") == ["checkpoints/2/a"]
    storage.write("checkpoints/locked/a", [b""])
    with pytest.raises(EnvironmentFailure, match="no permission"):
        storage.list_tree()


def test_without_hard_links_only_the_first_creates_too(storage: FolderStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(_source: object, target: object) -> None:
        raise OSError(errno.EPERM, "no links here", str(target))

    monkeypatch.setattr(os, "link", link)
    test_only_the_first_creates(storage)


def test_a_write_that_breaks_off_leaves_the_old_content_and_no_rubbish(storage: FolderStorage) -> None:
    storage.write("a", [b"old"])

    def chunks() -> object:
        yield b"new"
        raise ValueError("the source broke")

    with pytest.raises(ValueError, match="the source broke"):
        storage.write("a", chunks())  # type: ignore[arg-type]
    assert storage.read("a") == b"old"
    assert os.listdir(storage.root) == ["a"]


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "the disk quota is used up"),
        (errno.EROFS, "the file system is read-only"),
        (errno.EACCES, "no permission"),
        (errno.EIO, "the disk reports an input/output error"),
    ],
)
def test_a_failing_disk_is_one_line_that_names_the_file(
    storage: FolderStorage, monkeypatch: pytest.MonkeyPatch, number: int, line: str
) -> None:
    def fsync(_descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(EnvironmentFailure) as caught:
        storage.write("metrics.json", [b"{}"])
    assert str(caught.value) == f"{storage.root}/metrics.json: {line}"
    assert os.listdir(storage.root) == []


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(b"mine")
    storage = FolderStorage(tmp_path / "run")
    assert storage.list() == []
    with pytest.raises(EnvironmentFailure, match="run: a file is where a folder is needed"):
        storage.check_writable()
    with pytest.raises(EnvironmentFailure, match="a file is where a folder is needed"):
        storage.create("attempts/1/start.json", b"")
    assert (tmp_path / "run").read_bytes() == b"mine"


def test_a_folder_in_place_of_a_file(storage: FolderStorage) -> None:
    storage.write("metrics.json/x", [b""])
    with pytest.raises(EnvironmentFailure, match=r"metrics\.json: a folder is where a file is needed"):
        storage.write("metrics.json", [b"{}"])


def test_a_file_that_grows_past_the_limit_leaves_nothing(tmp_path: Path) -> None:
    program = """
import resource, sys
from pathlib import Path
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.local import FolderStorage
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    FolderStorage(Path(sys.argv[1])).write("shard", [bytes(60_000)] * 10)
except EnvironmentFailure as failure:
    print(failure)
"""
    run = tmp_path / "run"
    done = subprocess.run([sys.executable, "-c", program, str(run)], capture_output=True, text=True, check=True)
    assert done.stdout == f"{run}/shard: the file would be larger than the limit for files\n"
    assert os.listdir(run) == []


def test_the_check_for_writing_leaves_nothing_behind(storage: FolderStorage, tmp_path: Path) -> None:
    storage.check_writable()
    assert os.listdir(tmp_path) == []


def test_the_check_for_writing_takes_no_folder_from_one_who_begins(tmp_path: Path) -> None:
    """Two processes may check one location at the same time, while one of them writes its first file."""
    with ThreadPoolExecutor(1) as pool:
        for number in range(200):
            storage = FolderStorage(tmp_path / str(number) / "run")
            looking = pool.submit(storage.check_writable)
            assert storage.create("attempts/1/start.json", b"")
            looking.result()


def test_a_place_that_leads_nowhere(storage: FolderStorage, tmp_path: Path) -> None:
    (tmp_path / "deep").symlink_to(tmp_path / "gone")
    with pytest.raises(EnvironmentFailure, match="a file is where a folder is needed"):
        storage.check_writable()


@pytest.mark.parametrize("scheme", ["az", "hdfs", "http", "s3a", "S3"])
def test_another_store_is_not_built_yet(scheme: str) -> None:
    with pytest.raises(Mistakes, match=f"output: not built yet: {scheme}:// "):
        storage_at(f"{scheme}://bucket/run")


def test_a_folder_needs_no_client_of_a_store(tmp_path: Path) -> None:
    code = (
        f"import sys; from trainwright_trainer.storage.registry import storage_at; storage_at({str(tmp_path)!r}).list()"
    )
    code += "; sys.exit('boto3' in sys.modules or 'botocore' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_path_and_a_file_uri_are_folders(tmp_path: Path) -> None:
    for output in (str(tmp_path), f"file://{tmp_path}"):
        assert storage_at(output).location == str(tmp_path)
