"""The contract of every storage, tested on a folder and on prefixes of real servers of S3 and of Google's interface."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import pytest

from trainwright_trainer.storage.base import READERS, Chunk, Storage
from trainwright_trainer.storage.registry import storage_at


@pytest.fixture(params=["folder", "bucket", "google_bucket"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    root = str(tmp_path) if request.param == "folder" else request.getfixturevalue(request.param)
    return storage_at(f"{root}/deep/run")


def test_its_location_is_what_a_person_would_write(storage: Storage) -> None:
    assert storage.location.endswith("/deep/run")
    assert storage_at(storage.location).location == storage.location


def test_a_write_replaces(storage: Storage) -> None:
    storage.write("a/b.txt", [b"one"])
    storage.write("a/b.txt", [b"t", memoryview(b"wo")], durable=False)
    assert storage.read("a/b.txt") == b"two"
    assert storage.list("a/") == ["b.txt"]


def test_nothing_is_a_content_too(storage: Storage) -> None:
    storage.write("a", [])
    assert storage.exists("a")
    assert storage.read("a") == b""


def test_a_file_is_copied_in(storage: Storage, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(b"<p>" * 1000)
    storage.write_file("report.html", tmp_path / "page.html")
    assert storage.read("report.html") == b"<p>" * 1000


def test_absent_is_absent(storage: Storage) -> None:
    with pytest.raises(FileNotFoundError, match="deep/run/a"):
        storage.read("a")
    assert not storage.exists("a")
    assert storage.list() == []
    storage.delete("a")
    storage.delete_tree("a/")


def test_only_the_first_creates(storage: Storage) -> None:
    assert storage.create("start.json", b"mine")
    assert not storage.create("start.json", b"yours")
    assert storage.read("start.json") == b"mine"
    assert storage.list() == ["start.json"]


def test_of_many_who_create_at_once_one_succeeds(storage: Storage) -> None:
    with ThreadPoolExecutor(8) as pool:
        created = list(pool.map(lambda number: storage.create("start.json", b"%d" % number), range(8)))
    assert created.count(True) == 1
    assert storage.read("start.json") == b"%d" % created.index(True)


def test_list_names_what_lies_directly_under_a_prefix_and_passes_over_hidden_names(storage: Storage) -> None:
    for name in ("b.txt", "a/c.txt", "a/d/e.txt", "ab/f.txt", ".hidden.tmp", ".cache/g"):
        storage.write(name, [b""])
    assert storage.list() == ["a/", "ab/", "b.txt"]
    assert storage.list("a/") == ["c.txt", "d/"]


def test_one_name_is_deleted(storage: Storage) -> None:
    for name in ("a", "ab"):
        storage.write(name, [b""])
    storage.delete("a")
    assert storage.list() == ["ab"]


def test_trees_are_deleted_whole_and_alone(storage: Storage) -> None:
    for name in ("a/b/c", "a/b/d", "a/e", "ab"):
        storage.write(name, [b""])
    storage.delete_tree("a/")
    assert storage.list() == ["ab"]


def test_two_places_keep_apart(storage: Storage) -> None:
    other = storage_at(f"{storage.location}2")
    other.write("a", [b"other"])
    assert storage.list() == []
    storage.delete_tree("")
    assert other.read("a") == b"other"


def test_a_reader_never_sees_a_part_of_a_write(storage: Storage) -> None:
    storage.write("a", [b"old"])

    def chunks() -> Iterator[Chunk]:
        yield b"new"
        assert storage.read("a") == b"old"
        yield b"er"

    storage.write("a", chunks())
    assert storage.read("a") == b"newer"


def test_a_write_that_breaks_off_leaves_the_old_content_and_no_rubbish(storage: Storage) -> None:
    storage.write("a", [b"old"])

    def chunks() -> Iterator[Chunk]:
        yield b"new"
        raise ValueError("the source broke")

    with pytest.raises(ValueError, match="the source broke"):
        storage.write("a", chunks())
    assert storage.read("a") == b"old"
    assert storage.list() == ["a"]


def test_a_fill_writes_all_or_nothing(storage: Storage) -> None:
    def half(file: IO[bytes]) -> None:
        file.write(b"half")
        raise KeyboardInterrupt

    storage.write_by("a", lambda file: file.writelines([b"who", b"le"]))
    with pytest.raises(KeyboardInterrupt):
        storage.write_by("a", half)
    assert storage.read("a") == b"whole"
    assert storage.list() == ["a"]


def test_an_object_is_opened_for_arrow_and_as_a_stream(storage: Storage) -> None:
    storage.write("a/b", [b"0123456789"])
    with storage.open("a/b") as file:
        assert (file.size(), file.read(2), file.seek(8), file.read()) == (10, b"01", 8, b"89")
    with storage.stream("a/b") as stream:
        assert (stream.read(2), stream.seek(8), stream.read()) == (b"01", 8, b"89")
    with pytest.raises(FileNotFoundError):
        storage.open("a/c")


def test_all_names_below_the_root(storage: Storage) -> None:
    assert storage.list_tree() == []
    for name in ("b.txt", "a/c.txt", "a/d/e.txt", ".hidden/f.txt"):
        storage.write(name, [b""])
    assert sorted(storage.list_tree()) == [".hidden/f.txt", "a/c.txt", "a/d/e.txt", "b.txt"]
    assert sorted(storage.list_tree("a/")) == ["a/c.txt", "a/d/e.txt"]
    assert storage.list_tree("c/") == []
    assert sorted(storage.match("**/*.txt")) == ["a/c.txt", "a/d/e.txt", "b.txt"]
    assert sorted(storage.match("*/?.txt")) == ["a/c.txt"]
    storage.write("_g/h.txt", [b""])
    assert sorted(storage.match("*/?.txt")) == ["a/c.txt"]
    assert (storage.match("_*/?.txt"), storage.match(".h*/?.txt")) == (["_g/h.txt"], [".hidden/f.txt"])


def test_facts_of_all_objects(storage: Storage) -> None:
    before = time.time()
    storage.write("a/b.txt", [b"12345"])
    storage.write("c", [b""])
    found = {facts.name: facts for facts in storage.list_facts()}
    assert {name: facts.size for name, facts in found.items()} == {"a/b.txt": 5, "c": 0}
    assert all(before - 2 < facts.changed < time.time() + 2 for facts in found.values())


def test_the_identity_changes_with_the_content(storage: Storage) -> None:
    storage.write("a", [b"one"])
    storage.write("b", [b"one"])
    a, b = storage.identities(["a", "b"])
    assert a != b
    assert storage.identities(["a", "b"]) == [a, b]
    storage.write("a", [b"other"])
    assert storage.identities(["a", "b", "c"])[1:] == [b, {}]
    assert storage.identities(["a"]) != [a]
    assert storage.identities(["c"]) == [{}]


@pytest.mark.parametrize("exclusive", [True, False])
def test_the_check_for_writing_leaves_nothing_behind(storage: Storage, exclusive: bool) -> None:
    storage.check_writable(exclusive=exclusive)
    assert storage.list() == []


def test_another_process_can_be_given_a_storage(storage: Storage) -> None:
    storage.write("a", [b"one"])
    again = pickle.loads(pickle.dumps(storage))
    assert (again.location, again.read("a")) == (storage.location, b"one")


def test_a_store_is_asked_for_more_objects_at_once_than_there_are_cores(storage: Storage) -> None:
    assert storage.readers(2) == (READERS if storage.is_remote else 2)
    assert storage.readers(64) == 64
