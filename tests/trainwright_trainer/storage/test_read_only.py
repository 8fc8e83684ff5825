"""Stores that are only read: a real web server, and fsspec's file system in memory for the others."""

from __future__ import annotations

import pickle
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest
from tests.trainwright_trainer.storage.outage_clock import OutageClock

from trainwright_api import locations
from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.fsspec_store import FsspecStorage
from trainwright_trainer.storage.location import DataUri, data_place_of
from trainwright_trainer.storage.read_only import ReadOnlyStorage
from trainwright_trainer.storage.registry import storage_of
from trainwright_trainer.storage.web import WebStorage

KEY = "?signature=secret"


class _Site(SimpleHTTPRequestHandler):
    """The files of a folder, to those who give the key, and a number of failures first."""

    statuses: ClassVar[list[int]] = []
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.statuses:
            self.send_error(self.statuses.pop(0))
        elif self.path.startswith("/private/") and not self.path.endswith(KEY):
            self.send_error(403)
        else:
            super().do_GET()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "private").mkdir()
    for name in ("rows.csv", "private/rows.csv"):
        (tmp_path / name).write_text("a\n1\n")
    _Site.statuses.clear()
    _Site.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Site, directory=str(tmp_path))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[DataUri]:
    """A folder of fsspec's file system in memory, which stands for all that are not the web."""
    monkeypatch.setattr(locations, "DATA_ONLY", {"memory://": "fsspec"})
    files = fsspec.filesystem("memory")
    for name, content in {"a.csv": b"a\n1\n", "b.csv": b"a\n2\n", "deep/c.csv": b"a\n3\n", ".hidden": b""}.items():
        files.pipe(f"/box/data/{name}", content)
    yield DataUri.parse("memory://box/data", "dataset")
    files.rm("/box", recursive=True)


def test_a_file_of_the_web_is_fetched_once(site: str) -> None:
    storage = _at(f"{site}/")
    assert (storage.exists("rows.csv"), storage.exists("row.csv")) == (True, False)
    with storage.open("rows.csv") as file, storage.stream("rows.csv") as stream:
        assert (file.size(), file.read(), stream.read()) == (4, b"a\n1\n", b"a\n1\n")
    assert storage.read("rows.csv") == b"a\n1\n"
    assert _Site.asked == ["/rows.csv", "/row.csv"]


def test_the_identity_of_a_file_follows_its_content(site: str, tmp_path: Path) -> None:
    before, absent = _at(f"{site}/").identities(["rows.csv", "row.csv"])
    (tmp_path / "rows.csv").write_text("a\n2\n")
    (after,) = _at(f"{site}/").identities(["rows.csv"])
    assert before["path"] == after["path"] == f"{site}/rows.csv"
    assert before["content"] != after["content"]
    assert absent == {}


def test_a_key_in_the_query_is_sent_and_not_shown(site: str) -> None:
    place = data_place_of(f"{site}/private/rows.csv{KEY}", "dataset")
    assert place.name == "rows.csv"
    assert "secret" not in f"{place} {place!r}"
    assert storage_of(place.parent).read("rows.csv") == b"a\n1\n"
    other = _at(f"{site}/private/rows.csv?signature=wrong")
    with pytest.raises(EnvironmentFailure, match=r"/private/rows.csv cannot be read \(status 403\)$"):
        storage_of(other.root.parent).read("rows.csv")


def test_a_busy_server_is_asked_again(site: str) -> None:
    clock = OutageClock()
    storage = WebStorage(_at(f"{site}/").root, clock.retry_policy())
    _Site.statuses.extend((503, 429))
    assert storage.read("rows.csv") == b"a\n1\n"
    assert clock.now > 0


def test_a_server_that_is_gone_is_one_line() -> None:
    storage = WebStorage(DataUri("127.0.0.1:9", "", "http://"), OutageClock().retry_policy())
    with pytest.raises(EnvironmentFailure, match=r"^http://127.0.0.1:9/rows.csv cannot be read \(.*onnect.*\)$"):
        storage.exists("rows.csv")


def test_another_store_lists_and_matches_its_files(memory: DataUri) -> None:
    storage = FsspecStorage(memory)
    assert storage.list() == ["a.csv", "b.csv", "deep/"]
    assert sorted(storage.list_tree()) == [".hidden", "a.csv", "b.csv", "deep/c.csv"]
    assert sorted(storage.match("**/*.csv")) == ["a.csv", "b.csv", "deep/c.csv"]
    assert (storage.exists("deep/c.csv"), storage.exists("deep"), storage.exists("x")) == (True, False, False)
    with storage.open("b.csv") as file:
        assert file.read() == b"a\n2\n"
    with storage.stream("b.csv") as stream:
        assert (stream.readline(), stream.seek(0), stream.read()) == (b"a\n", 0, b"a\n2\n")
    assert storage.read("a.csv") == b"a\n1\n"
    assert storage.identities(["x"]) == [{}]


def test_the_identity_in_another_store_follows_the_file(memory: DataUri) -> None:
    before = FsspecStorage(memory).identities(["a.csv", "b.csv"])
    fsspec.filesystem("memory").pipe("/box/data/a.csv", b"a\n111\n")
    after = FsspecStorage(memory).identities(["a.csv", "b.csv"])
    assert [one == other for one, other in zip(before, after, strict=True)] == [False, True]


def test_nothing_is_written(memory: DataUri) -> None:
    storage = FsspecStorage(memory)
    for write in (
        lambda: storage.write("x", [b""]),
        lambda: storage.create("x", b""),
        lambda: storage.delete("a.csv"),
        lambda: storage.delete_tree(""),
        storage.check_writable,
        storage.delete_leftovers,
        lambda: storage.arrow(""),
    ):
        with pytest.raises(EnvironmentFailure, match="nothing is written"):
            write()
    assert storage.exists("a.csv")


def test_another_process_makes_its_own_client(site: str) -> None:
    storage = _at(f"{site}/")
    assert storage.exists("rows.csv")
    again = pickle.loads(pickle.dumps(storage))
    assert again.read("rows.csv") == b"a\n1\n"


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adlfs", None)
    with pytest.raises(Mistakes, match="abfs:// needs one more package: pip install adlfs"):
        _at("abfs://box/data").exists("rows.csv")


def _at(uri: str) -> ReadOnlyStorage:
    place = DataUri(uri.removeprefix("http://").rstrip("/"), "", "http://") if uri.endswith("/") else None
    storage = storage_of(place or DataUri.parse(uri, "dataset"))
    assert isinstance(storage, ReadOnlyStorage)
    return storage
