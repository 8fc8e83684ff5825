"""Every kind of damage gives one line."""

from __future__ import annotations

import gzip
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure

from .reading import CSV, NUMBERS, no_bytes, read, stream, zipped


def damaged_parquet(cut):
    buffer = io.BytesIO()
    pq.write_table(pa.table({"n": list(range(5000)), "t": [str(n) for n in range(5000)]}), buffer)
    return cut(buffer.getvalue())


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("x.parquet", damaged_parquet(lambda data: data[:-100]), "'x.parquet' is truncated or damaged: its footer"),
        ("x.parquet", damaged_parquet(lambda data: data[:500] + bytes(9000) + data[9500:]), "'x.parquet' is damaged"),
        ("x.parquet", b"n,t\n1,2\n", "'x.parquet' is no Parquet file."),
        ("x.parquet", b"", "'x.parquet' is no Parquet file."),
        ("x.feather", b"PAR1", "'x.feather' is no Feather (version 2) file."),
        ("x.feather", b"ARROW1" + bytes(50), "'x.feather' is truncated or damaged"),
        (
            "x.arrow",
            stream(NUMBERS, lambda data: data[:-8]),
            "'x.arrow' is truncated or damaged: its stream has no end.",
        ),
        (
            "x.arrow",
            stream(NUMBERS, lambda data: data[:900]),
            "'x.arrow' is truncated or damaged: its stream has no end.",
        ),
        (
            "x.arrow",
            b"\xff\xff\xff\xff" * 9 + bytes(4),
            "'x.arrow' is truncated or damaged: its schema cannot be read.",
        ),
        (
            "x.arrow",
            stream(NUMBERS, lambda data: data[:400] + b"\x7f" * 300 + data[700:]),
            "'x.arrow' is damaged: its record batches cannot be read.",
        ),
        ("x.csv", b"", "'x.csv' is empty."),
        ("x.csv", b"n,t\n1,2\n3\n", "'x.csv' has 1 values in line 3, its header has 2."),
        ("x.csv", b'n,t\n"1\n",2\n3,4,5\n', "'x.csv' has 3 values in line 4, its header has 2."),
        ("x.csv", b"n,t\n1," + b"x" * 140_000 + b"\n1,2\n3,4,5\n", "'x.csv' has 3 values in line 4, its header has 2."),
        (
            "x.csv",
            b'n,t\n1,2\n3,"' + b"1,2\n" * 2_200_000,
            "'x.csv' cannot be read in line 3: field larger than field limit (8388608).",
        ),
        (
            "x.csv",
            b"n,t\n" + b"1,2\n" * 70_000 + b"3,\xe9\n",
            "'x.csv' is not UTF-8: line 70,002 holds the byte 0xe9. Set datasetOptions.encoding, as in windows-1252.",
        ),
        ("x.csv.gz", b"n,t\n1,2\n", "'x.csv.gz' is no readable gz archive"),
        ("x.csv.gz", gzip.compress(CSV.encode() * 100)[:-20], "'x.csv.gz' is no readable gz archive"),
        ("x.csv.zip", b"n,t\n1,2\n", "'x.csv.zip' is no readable zip archive"),
        ("x.csv.zip", zipped({"a.csv": "n,t\n", "b.csv": "n,t\n"}), "'x.csv.zip' holds 2 files"),
        ("x.jsonl", b"", "'x.jsonl' is empty."),
        ("x.jsonl", b'{"n": 1, "t": 2}\n{"n": 1,}\n', "'x.jsonl' is no JSON lines file: line 2 is no JSON"),
        ("x.json", b'{"n": 1, "t": 2}\n5\n', "'x.json' is no JSON lines file: line 2 is no object. One object a line."),
        ("x.json", b'[{"n": 1, "t": 2}, 5]', "'x.json' is no array of objects: item 2 is none."),
        ("x.json", b'[{"n": 1, "t": 2}', "'x.json' is no JSON: Expecting ',' delimiter: line 1 column 18"),
        ("x.json", b"[]", "'x.json' is empty."),
        ("x.json", b'[{"n": 1, "t": "\xff"}]', "'x.json' is not UTF-8: line 1 holds the byte 0xff. JSON is always"),
        ("x.xlsx", b"abc", "'x.xlsx' is no readable Excel file: Cannot detect file format."),
        ("x.jsonl", b'{"n": 1, "t": "\xff"}\n', "'x.jsonl' is not UTF-8: line 1 holds the byte 0xff."),
    ],
    ids=no_bytes,
)
def test_damage_is_one_line(text, name, content, line):
    with pytest.raises(Mistakes) as mistakes:
        read(text(content, name))
    assert str(mistakes.value).startswith(f"dataset: {line}")
    assert "\n" not in str(mistakes.value)


def test_a_file_that_cannot_be_opened_is_the_environments(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    path.write_text("n,t\n1,2\n")

    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "open", refuse)
    with pytest.raises(EnvironmentFailure, match=r"dataset: '.*x\.csv' cannot be read \(Permission denied\)"):
        read(path)
