"""Storage in a bucket of Google's interface: large and many objects, and one line for each refusal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from google.cloud.storage import Blob
from tests.trainwright_trainer.storage.outage_clock import OutageClock

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.gcs import GcsStorage
from trainwright_trainer.storage.gcsclient.bucket import GcsBucket
from trainwright_trainer.storage.location import GcsUri
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.storage.retry_policy import RetryPolicy


@pytest.fixture
def root(google_bucket: str) -> GcsUri:
    return GcsUri.parse(f"{google_bucket}/run", "output")


@pytest.fixture
def clock() -> OutageClock:
    return OutageClock()


@pytest.fixture
def patient(root: GcsUri, clock: OutageClock) -> GcsStorage:
    return GcsStorage(root, clock.retry_policy())


def test_a_large_object_is_there_at_once(patient: GcsStorage) -> None:
    data = bytes(range(256)) * (80 << 10)
    seen: list[bool] = []

    def chunks() -> Iterator[memoryview]:
        for start in range(0, len(data), 3_000_000):
            yield memoryview(data)[start : start + 3_000_000]
            seen.append(patient.exists("shard"))

    patient.write("shard", chunks())
    assert patient.read("shard") == data
    assert not any(seen)
    with patient.open("shard") as file:
        assert (file.size(), file.seek(len(data) - 3), file.read()) == (len(data), len(data) - 3, data[-3:])


def test_a_whole_bucket_can_be_a_run(google_bucket: str) -> None:
    storage = storage_at(google_bucket)
    storage.write("a/b", [b"one"])
    assert (storage.location, storage.list(), storage.list("a/")) == (google_bucket, ["a/"], ["b"])


def test_more_objects_than_one_page_has(patient: GcsStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(7):
        patient.write(f"a/{number}", [b""])
    patient.write("b", [b""])
    bucket = patient.bucket
    assert isinstance(bucket, GcsBucket)
    plain = bucket._client.list_blobs
    monkeypatch.setattr(bucket._client, "list_blobs", lambda *words, **more: plain(*words, page_size=3, **more))
    assert len(patient.list("a/")) == 7
    patient.delete_tree("a/")
    assert patient.list() == ["b"]


def test_a_create_whose_answer_was_lost_is_known_again(patient: GcsStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    upload, lost = Blob.upload_from_string, []

    def losing_once(self: Blob, *words: Any, **more: Any) -> None:
        upload(self, *words, **more)
        if not lost:
            lost.append(self.name)
            raise requests.ConnectionError("the answer is lost")

    monkeypatch.setattr(Blob, "upload_from_string", losing_once)
    assert patient.create("start.json", b"mine")
    assert not patient.create("start.json", b"yours")
    assert (patient.read("start.json"), lost) == (b"mine", ["run/start.json"])


def test_a_bucket_that_is_not_there(google_bucket: str) -> None:
    storage = GcsStorage(GcsUri.parse(f"{google_bucket}-gone/run", "output"), RetryPolicy(seconds=0))
    with pytest.raises(EnvironmentFailure, match=rf"^{google_bucket}-gone/run/a: there is no such bucket$"):
        storage.write("a", [b""])
    with pytest.raises(EnvironmentFailure, match="there is no such bucket"):
        storage.list()


@pytest.mark.usefixtures("google_bucket")
def test_a_store_that_ignores_the_condition_is_refused(patient: GcsStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patient.bucket, "create", lambda *_: True)
    with pytest.raises(EnvironmentFailure, match="the store passes over `ifGenerationMatch`"):
        patient.check_writable()


def test_without_the_extra_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "trainwright_trainer.storage.gcsclient.bucket")
    monkeypatch.setitem(sys.modules, "google.cloud", None)
    with pytest.raises(Mistakes, match=r"^gs:// needs one more package: pip install 'trainwright\[gcs\]'$"):
        storage_at("gs://bucket/run")


def test_without_credentials_it_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STORAGE_EMULATOR_HOST", raising=False)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/keys.json")
    with pytest.raises(EnvironmentFailure, match=r"^gs://bucket: no keys to the store: set GOOGLE_APPLICATION_CRED"):
        storage_at("gs://bucket/run")
