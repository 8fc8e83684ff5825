"""URIs of a store: parsing, writing and joining."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainwright_api.locations import is_stored
from trainwright_api.problems import Mistakes
from trainwright_trainer.storage.location import GcsUri, S3Uri, place_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s3://bucket", S3Uri("bucket", "")),
        ("s3://bucket/", S3Uri("bucket", "")),
        ("s3://bucket/a/b.csv", S3Uri("bucket", "a/b.csv")),
        ("s3://bucket/a/b/", S3Uri("bucket", "a/b")),
        ("s3://bucket/a b/ü*.csv", S3Uri("bucket", "a b/ü*.csv")),
        ("gs://bucket/a/b/", GcsUri("bucket", "a/b")),
    ],
)
def test_what_a_uri_names(text: str, expected: S3Uri | GcsUri) -> None:
    assert is_stored(text)
    assert place_of(text, "dataset") == expected
    assert str(expected) == text.rstrip("/")


def test_it_joins_as_a_path_does() -> None:
    run = S3Uri("bucket", "") / "runs" / "a.parquet"
    assert (str(run), run.name, run.suffix, str(run.parent)) == (
        "s3://bucket/runs/a.parquet",
        "a.parquet",
        ".parquet",
        "s3://bucket/runs",
    )
    assert str(run.parent.parent) == str(run.parent.parent.parent) == "s3://bucket"
    assert str(S3Uri("bucket", "a") / "attempts/1/") == "s3://bucket/a/attempts/1"


def test_the_same_name_in_another_store_is_another_place() -> None:
    assert S3Uri("bucket", "a") != GcsUri("bucket", "a")
    assert str(GcsUri("bucket", "a") / "b") == "gs://bucket/a/b"


@pytest.mark.parametrize("text", ["s3://", "s3:///key", "s3://ab/key", "s3://a$b/key"])
def test_a_bucket_is_needed(text: str) -> None:
    with pytest.raises(Mistakes, match=r"output: .* names no bucket: expected s3://bucket/path"):
        S3Uri.parse(text, "output")


def test_keys_in_a_uri_are_refused_and_not_repeated() -> None:
    with pytest.raises(Mistakes) as caught:
        S3Uri.parse("s3://canary:canary@bucket/key", "dataset")
    assert str(caught.value).startswith("dataset: keys and ports have no place in a URI")
    assert "canary" not in str(caught.value)


def test_a_path_is_text_in_utf8() -> None:
    with pytest.raises(Mistakes, match=r"output: 'out/caf\\udce9' is no text in UTF-8"):
        place_of("out/caf\udce9", "output")


def test_a_uri_of_a_file_is_written_as_python_writes_it(tmp_path: Path) -> None:
    for name in ("a b.csv", "a%20b.csv"):
        path = tmp_path / name
        path.touch()
        for uri in (path.as_uri(), path.as_uri().replace("file://", "file://localhost"), f"file://{path}"):
            assert place_of(uri, "dataset") == path


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert place_of("~/runs", "output") == place_of("file://~/runs", "output") == Path("/home/me/runs")
    for name in ("~nobody.csv", "a/~/b", "~$book.xlsx"):
        assert place_of(name, "dataset") == Path(name)


def test_no_path_holds_a_null_character() -> None:
    with pytest.raises(Mistakes, match=r"output: 'a\\x00b' holds a null character"):
        place_of("a\0b", "output")
