"""Binary files under the name of a text."""

from __future__ import annotations

import bz2
import gzip
import io

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from trainwright_api.problems import Mistakes
from trainwright_api.resource.dataset_options import DatasetOptions
from trainwright_trainer.data import source
from trainwright_trainer.data.files import find

from .reading import CSV, no_bytes, read, zipped


def written(write, **options):
    buffer = io.BytesIO()
    write(pa.table({"n": [1], "t": ["a"]}), buffer, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl"])
@pytest.mark.parametrize(
    ("content", "line"),
    [
        (gzip.compress(CSV.encode(), mtime=0), "is a gzip archive: end its name in .gz, as in {name}.gz."),
        (zipped({"a.csv": CSV}), "is a zip archive: end its name in .zip, as in {name}.zip."),
        (zipped({"[Content_Types].xml": "", "xl/workbook.xml": ""}), "is an Excel workbook: end its name in .xlsx."),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), "is an Excel workbook: end its name in .xls."),
        (written(pq.write_table), "is a Parquet file: end its name in .parquet."),
        (written(feather.write_feather), "is a Feather file: end its name in .feather."),
        (
            bz2.compress(CSV.encode()),
            "is a bzip2 archive: compress it with gzip, and end its name in .gz, as in {name}.gz.",
        ),
        (
            pa.compress(CSV.encode(), codec="zstd", asbytes=True),
            "is a Zstandard archive: compress it with gzip, and end its name in .gz, as in {name}.gz.",
        ),
    ],
    ids=no_bytes,
)
def test_a_binary_file_with_the_name_of_a_text_is_named(text, name, content, line):
    with pytest.raises(Mistakes) as mistakes:
        read(text(content, name))
    assert str(mistakes.value) == f"dataset: {name!r} {line.format(name=name)}"


def test_the_name_of_an_archive_loses_its_ending(text):
    files = find(str(text(bz2.compress(CSV.encode()), "x.csv.bz2")), options=DatasetOptions(format="csv"))
    with pytest.raises(Mistakes, match=r"end its name in \.gz, as in x\.csv\.gz"):
        source.check(files, [("dataset", "n")])


def test_a_binary_file_beside_texts_is_named(text, tmp_path):
    text(CSV, "a.csv")
    text(gzip.compress(CSV.encode(), mtime=0), "b.csv")
    with pytest.raises(Mistakes, match=r"^dataset: 'b\.csv' is a gzip archive: end its name in \.gz"):
        read(tmp_path)


@pytest.mark.parametrize("header", ["PAR1", "ARROW1", "BZh1", "PK"])
def test_a_text_may_begin_like_a_binary_file(text, header):
    assert read(text(f"{header},n\na,1\n", "x.csv"), [header, "n"]) == {header: ["a"], "n": ["1"]}
