"""The S3 server of the tests: its own keys and address, which outlive it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from testkit.cluster.object_store import ObjectStore

from trainwright_trainer.storage.registry import storage_at

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    store = ObjectStore(tmp_path)
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    return store


def test_what_it_holds_outlives_it_and_it_does_not_outlive_its_block(store: ObjectStore) -> None:
    with store:
        (store.folder / "buckets/bucket").mkdir()
        storage = storage_at("s3://bucket/run")
        storage.write("a", [b"one"])
        assert (store.folder / "buckets/bucket/run/a").read_bytes() == b"one"
        store.kill()
        store.start()
        assert storage.read("a") == b"one"
        process = store._process
        assert process is not None
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def test_two_have_different_keys(store: ObjectStore, tmp_path: Path) -> None:
    other = ObjectStore(tmp_path / "other")
    assert store.environment.keys() == other.environment.keys()
    assert store.secret != other.secret
