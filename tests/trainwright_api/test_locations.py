"""The URIs of object stores in a job."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.checks.validate import validate_document
from trainwright_api.locations import parse_bucket, parse_data_uri, scheme_of
from trainwright_api.problems import Mistakes

CONFIG = {
    "input_features": [{"name": "x", "type": "number"}],
    "output_features": [{"name": "y", "type": "binary"}],
}


@pytest.mark.parametrize(
    ("location", "scheme"), [("gs://a/b", "gs://"), ("/a/b", ""), ("a:b", ""), ("s3://a", "s3://")]
)
def test_the_scheme(location: str, scheme: str) -> None:
    assert scheme_of(location) == scheme


@pytest.mark.parametrize(
    ("location", "parts"),
    [("s3://bucket", ("bucket", "")), ("s3://bucket//a/b/", ("bucket", "a/b")), ("gs://b.c/a b", ("b.c", "a b"))],
)
def test_bucket_and_key(location: str, parts: tuple[str, str]) -> None:
    assert parse_bucket(location, "output") == parts


@pytest.mark.parametrize(
    ("location", "parts"),
    [
        ("https://host:8443/a/b.csv?key=1/2", ("host:8443", "a/b.csv", "?key=1/2")),
        ("abfs://box@account.dfs.core.windows.net/a?b.csv", ("box@account.dfs.core.windows.net", "a?b.csv", "")),
        ("hf://datasets/owner/name/", ("datasets", "owner/name", "")),
    ],
)
def test_the_parts_of_a_store_that_is_only_read(location: str, parts: tuple[str, str, str]) -> None:
    assert parse_data_uri(location, "dataset") == parts


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ({"dataset": "s3://ab/key"}, "dataset: 's3://ab/key' names no bucket: expected s3://bucket/path, with 3"),
        ({"output": "s3:///key"}, "output: 's3:///key' names no bucket"),
        ({"backend": {"cache_dir": "s3://"}}, "backend.cache_dir: 's3://' names no bucket"),
        ({"dataset": "https://host"}, "dataset: expected the URI of a file or a folder, as in https://host/folder/"),
        ({"dataset": "sftp://me:canary@host/a.csv"}, "dataset: a password has no place in a URI"),
        ({"output": "https://host/runs"}, "output: not built yet: https://"),
        ({"dataset": "s3://canary:canary@bucket/key"}, "dataset: keys and ports have no place in a URI"),
    ],
)
def test_a_malformed_uri_is_refused_before_the_run(spec: dict[str, Any], line: str) -> None:
    with pytest.raises(Mistakes) as caught:
        validate_document({"dataset": "rows.csv", "config": CONFIG, **spec}, "job.yaml")
    assert str(caught.value).startswith(line)
    assert "canary" not in str(caught.value)
