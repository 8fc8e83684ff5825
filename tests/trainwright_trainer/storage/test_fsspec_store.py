"""Stores that fsspec reads, by file systems that behave as those of SFTP and Azure do with their real servers."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, ClassVar

import fsspec
import pytest
from fsspec.registry import _registry
from fsspec.utils import infer_storage_options
from tests.trainwright_trainer.storage.outage_clock import OutageClock

from trainwright_trainer.errors import EnvironmentFailure, StoppedRun
from trainwright_trainer.storage.base import READ_BYTES
from trainwright_trainer.storage.fsspec_store import FsspecStorage
from trainwright_trainer.storage.location import DataUri

LARGE = bytes(range(256)) * (READ_BYTES // 100)


class AuthenticationException(Exception):
    """As paramiko's."""


class ResponseError(Exception):
    """As Azure's: several lines."""

    status_code, error_code = 403, "AuthorizationFailure"

    def __str__(self) -> str:
        return "Server failed to authenticate the request.\nRequestId:1\nContent: <?xml?>"


class _Sftp(fsspec.AbstractFileSystem):  # type: ignore[misc]
    """A connection serves one thread, and never works again after it broke off."""

    files: ClassVar[dict[str, bytes]] = {}
    reads: ClassVar[list[str]] = []
    faults: ClassVar[list[Exception]] = []
    """The errors of the next requests."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._thread, self._broken = threading.get_ident(), False

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(infer_storage_options(path)["path"])

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        self._request()
        if path not in self.files:
            raise FileNotFoundError(path)
        facts = {"name": path, "size": len(self.files[path]), "type": "file", "mtime": hash(self.files[path])}
        return {**facts, "time": len(self.reads)}

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:  # noqa: ARG002
        self._request()
        below = [name.removeprefix(f"{path}/") for name in self.files if name.startswith(f"{path}/")]
        if not below:
            raise FileNotFoundError(path)
        kinds = {name.partition("/")[0]: "directory" if "/" in name else "file" for name in below}
        return [{"name": f"{path}/{name}", "type": kind, "size": 1} for name, kind in kinds.items()]

    def _open(self, path: str, *_: Any, **__: Any) -> io.BytesIO:
        self._request()
        self.reads.append(path)
        return io.BytesIO(self.files[path])

    def _request(self) -> None:
        assert threading.get_ident() == self._thread, "answers reach the wrong thread"
        if self._broken or self.faults:
            self._broken = True
            raise self.faults.pop(0) if self.faults else OSError("Socket is closed")


@pytest.fixture
def clock() -> OutageClock:
    return OutageClock()


@pytest.fixture
def sftp(monkeypatch: pytest.MonkeyPatch, clock: OutageClock) -> FsspecStorage:
    monkeypatch.setitem(_registry, "sftp", _Sftp)
    files = {"/data/a.csv": b"a\n1\n", "/data/deep/large.csv": LARGE}
    for name, value in (("files", files), ("reads", []), ("faults", [])):
        monkeypatch.setattr(_Sftp, name, value)
    _Sftp.clear_instance_cache()
    return FsspecStorage(DataUri.parse("sftp://me@box:2222/data", "dataset"), clock.retry_policy())


def test_the_time_of_the_last_read_is_no_change(sftp: FsspecStorage) -> None:
    before = sftp.identities(["a.csv"])
    assert sftp.read("a.csv") == b"a\n1\n"
    assert sftp.identities(["a.csv"]) == before
    _Sftp.files["/data/a.csv"] = b"a\n2\n"
    assert sftp.identities(["a.csv"]) != before


def test_each_thread_has_its_own_connection(sftp: FsspecStorage) -> None:
    found = [sftp.read("a.csv")]
    thread = threading.Thread(target=lambda: found.append(sftp.read("a.csv")))
    thread.start()
    thread.join()
    assert found == [b"a\n1\n"] * 2


@pytest.mark.parametrize("fault", [OSError("Server connection dropped: "), EOFError(), ConnectionResetError(104, "x")])
def test_a_stream_goes_on_with_a_new_connection(sftp: FsspecStorage, clock: OutageClock, fault: Exception) -> None:
    with sftp.stream("deep/large.csv") as stream:
        first = stream.read(1000)
        _Sftp.faults.append(fault)
        assert first + stream.read() == LARGE
        assert (stream.seek(-3, io.SEEK_END), stream.read()) == (len(LARGE) - 3, LARGE[-3:])
        assert (stream.seek(len(LARGE) + 5), stream.read()) == (len(LARGE) + 5, b"")
    assert clock.now > 0


def test_arrow_reads_any_part(sftp: FsspecStorage) -> None:
    with sftp.open("deep/large.csv") as file:
        assert file.size() == len(LARGE)
        assert file.read_at(300, READ_BYTES - 100) == LARGE[READ_BYTES - 100 : READ_BYTES + 200]


def test_a_folder_that_cannot_be_listed_is_not_left_out(sftp: FsspecStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sorted(sftp.list_tree()) == ["a.csv", "deep/large.csv"]
    listed = _Sftp.ls

    def ls(self: _Sftp, path: str, **options: Any) -> list[Any]:
        if path.endswith("deep"):
            raise PermissionError(13, "Permission denied")
        return listed(self, path, **options)

    monkeypatch.setattr(_Sftp, "ls", ls)
    with pytest.raises(EnvironmentFailure, match=r"^sftp://me@box:2222/data cannot be read \(Permission denied\)$"):
        sftp.list_tree()


def test_an_absent_folder_holds_nothing(sftp: FsspecStorage) -> None:
    assert FsspecStorage(sftp.root / "no").list() == []


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (AuthenticationException("Authentication failed."), r"Authentication failed\."),
        (Exception("No authentication methods available"), "No authentication methods available"),
        (ResponseError(), "status 403, AuthorizationFailure"),
        (ValueError("unable to connect to account for x\nmore"), "unable to connect to account for x"),
    ],
)
def test_wrong_keys_are_one_line_at_once(
    sftp: FsspecStorage, clock: OutageClock, fault: Exception, reason: str
) -> None:
    _Sftp.faults.append(fault)
    with pytest.raises(EnvironmentFailure, match=rf"^sftp://me@box:2222/data/a\.csv cannot be read \({reason}\)$"):
        sftp.exists("a.csv")
    assert clock.now == 0


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (lambda: OSError(None, "Unable to connect to port 2222 on box"), "Unable to connect to port 2222 on box"),
        (TimeoutError, "no answer in time"),
    ],
)
def test_a_server_that_is_away_is_reported_at_once_and_in_the_end(
    sftp: FsspecStorage, clock: OutageClock, fault: Callable[[], Exception], reason: str
) -> None:
    _Sftp.faults.extend(fault() for _ in range(100))
    line = f"sftp://me@box:2222/data/a.csv cannot be read ({reason})"
    with pytest.raises(EnvironmentFailure) as caught:
        sftp.exists("a.csv")
    assert str(caught.value) == line
    assert clock.lines == [f"{line}; it is asked again for 150 s in all"]


def test_a_signal_ends_the_wait(sftp: FsspecStorage, clock: OutageClock) -> None:
    _Sftp.faults.append(StoppedRun("stopped by SIGTERM"))
    with pytest.raises(StoppedRun, match=r"^stopped by SIGTERM$"):
        sftp.exists("a.csv")
    assert clock.now == 0


class _Azure(_Sftp):
    """Its package retries by itself for longer than people wait, and answers from its last listing."""

    listing: ClassVar[dict[str, Any]] = {}
    service_client = SimpleNamespace(_config=SimpleNamespace(retry_policy=SimpleNamespace(total_retries=3)))

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        assert self.service_client._config.retry_policy.total_retries == 0
        return self.listing.setdefault(path, super().info(path))

    def invalidate_cache(self, path: str | None = None) -> None:  # noqa: ARG002
        self.listing.clear()


def test_azure_does_not_retry_by_itself_and_gives_no_old_facts(
    sftp: FsspecStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(_registry, "sftp", _Azure)
    before = sftp.identities(["a.csv"])
    _Sftp.files["/data/a.csv"] = b"a\n2\n"
    assert sftp.identities(["a.csv"]) != before
