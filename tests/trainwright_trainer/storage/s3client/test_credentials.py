"""Keys and addresses from the environment, a dictionary or a file. They never appear in a text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trainwright_api.problems import Mistakes
from trainwright_api.resource.backend import Backend
from trainwright_trainer.storage.s3client.credentials import S3Credentials, from_environment, from_keys
from trainwright_trainer.storage.s3client.job_credentials import USES, JobCredentials, idle_keys, keys_of

AROUND = {
    "AWS_ACCESS_KEY_ID": "around-id",
    "AWS_SECRET_ACCESS_KEY": "around-secret",
    "AWS_SESSION_TOKEN": "around-token",
    "AWS_ENDPOINT_URL": "http://around",
    "AWS_REGION": "around-1",
}
OWN = {"aws_access_key_id": "own-id", "aws_secret_access_key": "own-secret"}


@pytest.fixture(autouse=True)
def around(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_DEFAULT_REGION", "AWS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in AROUND.items():
        monkeypatch.setenv(name, value)


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert from_environment() == S3Credentials(
        "around-id", "around-secret", "around-token", "http://around", "around-1"
    )
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://nearer")
    monkeypatch.setenv("AWS_REGION", "")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "other-1")
    monkeypatch.setenv("AWS_CA_BUNDLE", "/ca.pem")
    found = from_environment()
    assert (found.endpoint, found.region, found.authority) == ("http://nearer", "other-1", "/ca.pem")


@pytest.mark.parametrize(
    "given",
    [
        {**OWN, "endpoint_url": "http://own"},
        {"AWS_ACCESS_KEY_ID": "own-id", "AWS_SECRET_ACCESS_KEY": "own-secret", "AWS_ENDPOINT_URL": "http://own"},
        {"s3": {"client_kwargs": {**OWN, "endpoint_url": "http://own"}}},
        {"s3": {"key": "own-id", "secret": "own-secret", "client_kwargs": {"endpoint_url": "http://own"}}},
    ],
    ids=["boto3", "environment", "fsspec nested", "fsspec"],
)
def test_spellings_of_the_same_keys(given: dict[str, Any], tmp_path: Path) -> None:
    expected = S3Credentials("own-id", "own-secret", None, "http://own", "around-1")
    assert from_keys("backend.cache_credentials", given) == expected
    (tmp_path / "keys.json").write_text(json.dumps(given))
    assert from_keys("backend.cache_credentials", str(tmp_path / "keys.json")) == expected


def test_an_address_alone_leaves_the_keys_of_the_environment() -> None:
    found = from_keys("p", {"endpoint_url": "http://own"})
    assert (found.endpoint, found.key_id, found.token) == ("http://own", "around-id", "around-token")


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"aws_acces_key_id": "canary"}, r"p\.aws_acces_key_id: unknown: did you mean 'aws_access_key_id'\?"),
        ({"s3": {"wholly_else": "canary"}}, r"p\.s3\.wholly_else: unknown; known are aws_access_key_id, "),
        ({"aws_access_key_id": "canary"}, "p: needs both aws_access_key_id and aws_secret_access_key"),
        ({**OWN, "aws_session_token": 7}, r"p\.aws_session_token: expected text"),
        ("canary/canary.json", r"p: names a file that cannot be read \(No such file or directory\)"),
    ],
)
def test_what_is_wrong_is_reported_without_a_value(given: Any, line: str) -> None:
    with pytest.raises(Mistakes, match=line) as caught:
        from_keys("p", given)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("content", ["canary", '["canary"]'])
def test_a_file_that_holds_no_keys(tmp_path: Path, content: str) -> None:
    (tmp_path / "keys.json").write_text(content)
    with pytest.raises(Mistakes, match=r"p: names a file that (is no JSON|holds no JSON object)") as caught:
        from_keys("p", str(tmp_path / "keys.json"))
    assert "canary" not in str(caught.value)


def test_it_shows_no_key() -> None:
    shown = repr(JobCredentials(cache=from_keys("p", {**OWN, "token": "own-token"})))
    assert "own-" not in shown
    assert "http://around" in shown


def test_each_place_has_its_keys() -> None:
    def of(**section: Any) -> list[str | None]:
        keys = keys_of(Backend.model_validate(section), USES)
        return [access and access.key_id for access in (keys.datasets, keys.artifacts, keys.cache)]

    other = {"key": "other-id", "secret": "other-secret"}
    assert of() == [None, None, None]
    assert of(cache_credentials=OWN) == [None, None, "own-id"]
    assert of(credentials={"cache": OWN, "datasets": other}) == ["other-id", None, "own-id"]
    assert of(credentials={"default": other, "artifacts": OWN}) == ["other-id", "own-id", "other-id"]
    assert of(credentials={"default": other}, cache_credentials=OWN) == ["other-id", "other-id", "own-id"]


def test_keys_to_what_lies_here_are_reported_and_not_read() -> None:
    backend = Backend.model_validate({"cache_credentials": "gone.json", "credentials": {"default": OWN}})
    assert keys_of(backend, {"datasets"}).cache is None
    assert keys_of(backend, {"datasets"}).datasets is not None
    assert idle_keys(backend, USES) == []
    assert idle_keys(backend, {"datasets"}) == [
        "backend.cache_credentials is set aside: what it opens does not lie in S3"
    ]
    assert len(idle_keys(backend, ())) == 2
