"""Storage in a bucket: large and many objects, server outages, and one line for each refusal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError, ConnectionClosedError
from testkit.cluster.object_store import ObjectStore
from testkit.store_proxy import FOREVER, StoreFault, StoreProxy
from tests.trainwright_trainer.storage.outage_clock import OutageClock

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.location import S3Uri
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.storage.retry_policy import RetryPolicy
from trainwright_trainer.storage.s3 import S3Storage
from trainwright_trainer.storage.s3client import bucket as buckets
from trainwright_trainer.storage.s3client import client, upload
from trainwright_trainer.storage.s3client.credentials import S3Credentials, from_environment

AT_ONCE = RetryPolicy(seconds=0)


@pytest.fixture
def root(bucket: str) -> S3Uri:
    return S3Uri.parse(f"{bucket}/run", "output")


@pytest.fixture
def storage(root: S3Uri) -> S3Storage:
    return S3Storage(root, from_environment(), AT_ONCE)


@pytest.fixture
def clock() -> OutageClock:
    return OutageClock()


@pytest.fixture
def patient(root: S3Uri, clock: OutageClock) -> S3Storage:
    return S3Storage(root, from_environment(), clock.retry_policy())


def test_a_large_object_goes_in_parts_and_is_there_at_once(storage: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload, "PART_BYTES", 5 << 20)
    data = bytes(range(256)) * (50 << 10)
    seen: list[bool] = []

    def chunks() -> Iterator[memoryview]:
        for start in range(0, len(data), 3_000_000):
            yield memoryview(data)[start : start + 3_000_000]
            seen.append(storage.exists("shard"))

    storage.write("shard", chunks())
    assert storage.read("shard") == data
    assert not any(seen)


def test_only_what_may_be_meant_is_listed(storage: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bucket may hold millions of other objects, which the keys may not list."""
    names = [f"images/{number}.png" for number in range(3)]
    for name in (*names, "other/1.png"):
        storage.write(name, [b"."])
    listed: list[str] = []
    below = storage.bucket.below
    monkeypatch.setattr(storage.bucket, "below", lambda prefix: (listed.append(prefix), below(prefix))[1])
    assert [found["size"] for found in storage.identities(names)] == [1, 1, 1]
    assert storage.match("ima*/*.p?g") == names
    assert storage.match("**/1.png") == ["images/1.png", "other/1.png"]
    assert storage.identities([*names, "absent"])[3] == {}
    assert listed == ["run/images/", "run/ima", "run/", "run/"]


def test_an_upload_in_parts_that_breaks_off_leaves_nothing(storage: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload, "PART_BYTES", 5 << 20)

    def chunks() -> Iterator[bytes]:
        yield bytes(11 << 20)
        raise EnvironmentFailure("the disk is gone")

    with pytest.raises(EnvironmentFailure, match="the disk is gone"):
        storage.write("shard", chunks())
    assert storage.list() == []
    assert not storage._bucket._client.list_multipart_uploads(Bucket=storage.root.bucket).get("Uploads")


def test_more_objects_than_one_request_can_name(storage: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buckets, "_DELETED_AT_ONCE", 7)
    for number in range(15):
        storage.write(f"a/{number:02d}", [b""])
    storage.write("b", [b""])
    assert len(storage.list("a/")) == 15
    storage.delete_tree("a/")
    assert storage.list() == ["b"]


def test_a_folder_that_a_console_made_is_no_name(storage: S3Storage) -> None:
    storage.write("a/", [b""])
    assert (storage.list(), storage.list("a/")) == (["a/"], [])


def test_a_whole_bucket_can_be_a_run(bucket: str) -> None:
    storage = storage_at(bucket)
    storage.write("a/b", [b"one"])
    assert (storage.location, storage.list(), storage.list("a/")) == (bucket, ["a/"], ["b"])


def test_a_create_whose_answer_was_lost_is_known_again(patient: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    client = patient._bucket._client
    monkeypatch.setattr(client, "put_object", losing_once(client.put_object))
    assert patient.create("start.json", b"mine")
    assert not patient.create("start.json", b"yours")


def test_an_upload_whose_last_answer_was_lost_is_known_again(
    patient: S3Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload, "PART_BYTES", 5 << 20)
    client = patient._bucket._client
    monkeypatch.setattr(client, "complete_multipart_upload", losing_once(client.complete_multipart_upload))
    patient.write("shard", [bytes(6 << 20)])
    assert len(patient.read("shard")) == 6 << 20


def losing_once(act: Callable[..., object]) -> Callable[..., object]:
    """The first answer is lost, although the store has executed the request."""
    lost = [ConnectionClosedError(endpoint_url="http://store")]

    def losing(**request: object) -> object:
        answer = act(**request)
        if lost:
            raise lost.pop()
        return answer

    return losing


def test_a_bucket_that_is_not_there(bucket: str) -> None:
    storage = S3Storage(S3Uri.parse(f"{bucket}-2/run", "output"), from_environment(), AT_ONCE)
    for act in (storage.list, storage.check_writable):
        with pytest.raises(EnvironmentFailure) as caught:
            act()
        name = bucket.removeprefix("s3://")
        assert str(caught.value) == f"{bucket}-2/run: there is no such bucket: did you mean {name!r}?"


def test_keys_that_may_not_list_buckets_get_no_name(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = S3Storage(S3Uri.parse(f"{bucket}-2/run", "output"), from_environment(), AT_ONCE)

    def refused() -> None:
        raise ClientError({"Error": {"Code": "AccessDenied"}}, "ListBuckets")

    monkeypatch.setattr(storage._bucket._client, "list_buckets", refused)
    with pytest.raises(EnvironmentFailure, match=r"there is no such bucket$"):
        storage.list()


@pytest.mark.parametrize("code", [200, 403, 404, 500])
def test_an_address_of_a_web_page_is_named(root: S3Uri, object_store: ObjectStore, code: int) -> None:
    with StoreProxy(object_store.address) as page:
        page.add(StoreFault(("GET", "HEAD", "PUT", "DELETE"), times=FOREVER, code=code, content="<!doctype html><br>"))
        access = replace(from_environment(), endpoint=page.url)
        storage = S3Storage(root, access, AT_ONCE)
        acts = [storage.list, storage.check_writable]
        for act in acts if code == 404 else [*acts, lambda: storage.exists("a")]:
            with pytest.raises(EnvironmentFailure) as caught:
                act()
            status = r"( \(status \d+\))?"
            line = rf"{root}\S*: {page.url} answers with a web page{status}, as no store does; see AWS_ENDPOINT_URL"
            assert re.fullmatch(line, str(caught.value))


def test_keys_that_the_server_does_not_know_are_not_repeated(root: S3Uri, object_store: ObjectStore) -> None:
    for key_id, secret, line in (
        ("canary-id", "canary-secret", "the store does not know the access key; see AWS_ACCESS_KEY_ID"),
        (object_store.key_id, "canary-secret", "the secret does not fit the access key; see AWS_SECRET_ACCESS_KEY"),
    ):
        access = S3Credentials(key_id, secret, endpoint=object_store.url, region="us-east-1")
        with pytest.raises(EnvironmentFailure) as caught:
            S3Storage(root, access, AT_ONCE).list()
        assert str(caught.value) == f"{root}: {line}"
        assert "canary" not in str(caught.value) + repr(access)


def test_no_keys_at_all(root: S3Uri, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(EnvironmentFailure, match="no keys to the store: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_"):
        S3Storage(root, from_environment(), AT_ONCE).list()


def test_arrow_reads_with_the_keys_that_boto3_has_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a role expire after an hour, while a training may read its columns for days."""
    found = Credentials("first", "secret", "token")
    monkeypatch.setattr(client, "_found_credentials", lambda: found)
    storage = S3Storage(S3Uri("bucket", ""), S3Credentials(region="nowhere-1"))
    assert storage._arrow is storage._arrow
    assert "first" in str(storage._arrow.__reduce__())
    found.access_key = "second"
    assert "second" in str(storage._arrow.__reduce__())


def test_half_of_the_keys(root: S3Uri, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(Mistakes, match="go together: one is missing"):
        storage_at(str(root))


def test_an_address_that_is_none(root: S3Uri, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "localhost:9000")
    with pytest.raises(Mistakes, match="AWS_ENDPOINT_URL is no address: give it with its scheme"):
        storage_at(str(root))


def test_nobody_listens_there(root: S3Uri) -> None:
    access = S3Credentials("some-key", "some-secret", endpoint="http://no-such-host.invalid:9000")
    with pytest.raises(
        EnvironmentFailure, match=r"^s3://\S+: no answer from http://no-such-host\.invalid:9000 \(.+\)$"
    ):
        S3Storage(root, access, AT_ONCE).list()


def test_a_store_that_passes_over_conditions_is_refused(storage: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    client = storage._bucket._client
    put = client.put_object

    def unconditional(**request: object) -> object:
        return put(**{name: value for name, value in request.items() if name != "IfNoneMatch"})

    monkeypatch.setattr(client, "put_object", unconditional)
    with pytest.raises(EnvironmentFailure, match="run: the store passes over `If-None-Match`"):
        storage.check_writable()
    assert storage.list() == []
