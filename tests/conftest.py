"""For all tests, and the processes that they start: one thread each, for tiny data, on machines that others share."""

from __future__ import annotations

import copy
import json
import os
import random
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from testkit.cluster.errors import ClusterError
from testkit.cluster.object_store import GoogleStore, ObjectStore

from trainwright_trainer.backends.ray.environment import settle

# Read when torch is first imported, which no conftest above a test does before this line.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# No test fetches a pretrained model.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# No test joins a Ray that somebody has started on this machine.
os.environ.setdefault("RAY_ADDRESS", "local")
# Ray reads its variables when it is first imported.
settle(os.environ)
# A busy machine is slow at any moment: no test asserts the time of an example.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

JOB: Mapping[str, Any] = {
    "dataset": "data.csv",
    "config": {
        "input_features": [
            {"name": "size", "type": "number"},
            {"name": "open", "type": "binary"},
            {"name": "kind", "type": "category"},
        ],
        "output_features": [{"name": "late", "type": "binary"}],
        "trainer": {"epochs": 1, "batch_size": 32},
    },
}
CACHE = ".trainwright_cache"


def table(rows: int = 200) -> list[str]:
    """The lines of a CSV file whose target follows `size`, with noise."""
    draws = random.Random(7)
    lines = ["size,open,kind,late"]
    for _ in range(rows):
        size = draws.gauss(0, 1)
        late = "yes" if size + draws.gauss(0, 0.5) > 0 else "no"
        lines.append(f"{size:.3f},{draws.choice(['yes', 'no'])},{draws.choice('abc')},{late}")
    return lines


@dataclass(frozen=True)
class Ended:
    """The exit code and output of a command."""

    code: int
    out: str
    err: str


class Workplace:
    """A folder with a data set of 200 rows, where commands of the program are run."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._monkeypatch, self._capsys = folder, monkeypatch, capsys
        monkeypatch.chdir(folder)
        self.data(*table())

    def data(self, *lines: str, name: str = "data.csv") -> str:
        """Writes a file of these lines and answers its name."""
        (self.folder / name).write_text("\n".join(lines) + "\n")
        return name

    def job(self, change: Callable[[dict[str, Any]], object] | None = None, name: str = "job.yaml") -> str:
        """Writes a job, changed by `change`, and answers its name."""
        whole = copy.deepcopy(dict(JOB))
        if change is not None:
            change(whole)
        (self.folder / name).write_text(json.dumps(whole))
        return name

    def run(self, *arguments: str) -> Ended:
        """`trainwright ARGUMENTS` in this process."""
        from trainwright_trainer import cli

        self._monkeypatch.setattr(sys, "argv", ["trainwright", *arguments])
        self._capsys.readouterr()
        try:
            cli.main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        return Ended(code, *self._capsys.readouterr())

    def done(self, *arguments: str) -> Ended:
        """A command that has to succeed."""
        ended = self.run(*arguments)
        assert (ended.code, ended.err) == (0, "")
        return ended

    def refused(self, *arguments: str, code: int = 2) -> str:
        """The message of a command that must fail with a mistake and change no file."""
        before = self.files()
        ended = self.run(*arguments)
        assert ended.code == code, (ended.out, ended.err)
        assert "Traceback" not in ended.out + ended.err
        assert self.files() == before
        assert not list(self.folder.rglob(".*.tmp"))
        return ended.err.removesuffix("\n")

    def program(self, *arguments: str) -> Ended:
        """`trainwright ARGUMENTS` as a process."""
        return self._process("-m", "trainwright_trainer", *arguments)

    def python(self, code: str) -> Ended:
        """Python's `code` as a process."""
        return self._process("-c", code)

    def _process(self, *arguments: str) -> Ended:
        command = [sys.executable, *arguments]
        ended = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    def files(self) -> dict[str, bytes | None]:
        """All files and folders with their content, but the entries of the cache."""
        paths = (path for path in self.folder.rglob("*") if CACHE not in path.parts)
        return {str(path.relative_to(self.folder)): None if path.is_dir() else path.read_bytes() for path in paths}


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Workplace:
    return Workplace(tmp_path, monkeypatch, capsys)


@pytest.fixture(scope="module")
def ray_here() -> Iterator[None]:
    """A Ray with four logical cores that this process has joined, for the tests of one module."""
    import ray

    ray.init(address="local", num_cpus=4, include_dashboard=False, log_to_driver=False, object_store_memory=1 << 28)
    yield
    ray.shutdown()


@pytest.fixture(scope="session")
def object_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    """The S3 server of this worker's tests, which keep apart by buckets."""
    try:
        with ObjectStore(tmp_path_factory.mktemp("s3")) as store:
            yield store
    except ClusterError as problem:
        pytest.fail(str(problem), pytrace=False)


@pytest.fixture
def bucket(object_store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URI of a fresh bucket on a server that the environment leads to."""
    for name, value in object_store.environment.items():
        monkeypatch.setenv(name, value)
    from trainwright_trainer.storage.s3client.client import client_of
    from trainwright_trainer.storage.s3client.credentials import from_environment

    name = f"bucket-{secrets.token_hex(6)}"
    client_of(from_environment()).create_bucket(Bucket=name)
    return f"s3://{name}"


@pytest.fixture(scope="session")
def google_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GoogleStore]:
    """The server of Google Cloud Storage of this worker's tests, which keep apart by buckets."""
    try:
        with GoogleStore(tmp_path_factory.mktemp("gcs")) as store:
            yield store
    except ClusterError as problem:
        pytest.fail(str(problem), pytrace=False)


@pytest.fixture
def google_bucket(google_store: GoogleStore, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URI of a fresh bucket on a server that the environment leads to."""
    for name, value in google_store.environment.items():
        monkeypatch.setenv(name, value)
    from google.cloud import storage

    name = f"bucket-{secrets.token_hex(6)}"
    storage.Client(project="tests").create_bucket(name)
    return f"gs://{name}"
