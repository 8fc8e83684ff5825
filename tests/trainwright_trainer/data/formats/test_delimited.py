"""Rows of CSV and TSV files."""

from __future__ import annotations

import gzip
import re

import pytest

from trainwright_api.problems import Mistakes
from trainwright_api.resource.dataset_options import DatasetOptions
from trainwright_trainer.data import source
from trainwright_trainer.data.files import find

from .reading import CSV, ROWS, no_bytes, read, zipped


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", CSV.encode()),
        ("x.csv", b"\xef\xbb\xbf" + CSV.replace("\n1", "\r\n1").encode()),
        ("x.csv", CSV.replace("\n1", "\n\n1").encode()),
        ("x.tsv", CSV.replace('"c, d"', "c; d").replace(",", "\t").replace(";", ",").encode()),
        ("x.csv.gz", gzip.compress(CSV.encode())),
        ("x.csv.zip", zipped({"inside.csv": CSV, "__MACOSX/._inside.csv": "x"})),
    ],
    ids=no_bytes,
)
@pytest.mark.parametrize("coded", [(), ("t",)])
def test_text_is_read_as_text(text, name, content, coded):
    found = read(text(content, name), coded=coded)
    assert found == {"n": ["1", "2", "3", None], "t": [row[1] for row in ROWS]}


def test_nothing_is_guessed_from_the_first_rows(text):
    rows = 300_000
    path = text("n,t\n" + "1,1\n" * rows + "1,x\n", "x.csv")
    found = read(path)
    assert len(found["t"]) == rows + 1
    assert (found["t"][0], found["t"][-1]) == ("1", "x")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("content", "values"),
    [
        ("n\n1\n\n3\n", ["1", None, "3"]),
        ("n\n1\n\n3", ["1", None, "3"]),
        ("\n\nn\n\n3\n", [None, "3"]),
        ("sep=;\n\nn\n1\n\n", ["1", None]),
        ('"n"\n"1"\n""\n', ["1", None]),
        ("n\n", []),
    ],
)
def test_a_blank_line_is_a_row_of_one_column(text, content, values, end):
    assert read(text(content.replace("\n", end), "x.csv"), ("n",)) == {"n": values}


def test_a_blank_line_is_no_row_of_two_columns_and_no_header(text):
    assert read(text("\nn,t\n1,a\n\n2,b\n", "x.csv")) == {"n": ["1", "2"], "t": ["a", "b"]}
    files = find(text("\n1\n", "y.csv"), options=DatasetOptions(header=False))
    (block,) = source.blocks(files, [("config.input_features[0].column", "column_1")], ())
    assert block.columns["column_1"].to_pylist() == [None, "1"]


STRAY = 'n,t\n"1",a\n2,"b\nc"\n\n3,"d\n4,e\n5,f\n'
STRAY_FIRST = 'n,t\n"1\n",a\n2,b\n"3,d\n4,e\n'


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("x.csv", STRAY.encode(), 6),
        ("x.csv", STRAY.replace("\n", "\r\n").encode(), 6),
        ("x.csv", STRAY.replace("\n", "\r").encode(), 6),
        ("x.csv", STRAY.encode("utf-16"), 6),
        ("x.csv", f"sep=,\n{STRAY}".encode(), 7),
        ("x.tsv", STRAY.replace(",", "\t").encode(), 6),
        ("x.csv.gz", gzip.compress(STRAY.encode()), 6),
        ("x.csv", STRAY_FIRST.encode(), 5),
        ("x.csv", b'n,t\n"1\n2\n3",a\n4,"', 5),
        ("x.csv", b'n,t\n"1\n2\n3","b\nc\n', 4),
    ],
    ids=no_bytes,
)
def test_a_quote_that_is_not_closed_is_one_line(text, name, content, line):
    said = f"has no closing quote for the value that begins with a quote in line {line}."
    with pytest.raises(Mistakes, match=re.escape(f"dataset: '{name}' {said}")):
        read(text(content, name))


def test_a_quote_inside_a_value_needs_no_other(text):
    rows = {"n": ["1", "2", "3"], "t": ['5" pipe', "a b", "c"]}
    assert read(text('n,t\n1,5" pipe\n2,"a b"\n3,c', "x.csv")) == rows
    assert read(text('n,t\n1,5" pipe\n2,"a b"\n3,c\n'.encode("utf-16"), "y.csv")) == rows
    assert read(text('n,t\n1,"a\n"b"\n', "z.csv")) == {"n": ["1"], "t": ['a\nb"']}


def test_a_table_with_one_column_asks_about_the_delimiter(text):
    with pytest.raises(Mistakes) as mistakes:
        read(text("n:t:other\n1:2:3\n", "x.csv"))
    line = (
        "'x.csv' has one column, 'n:t:other'. Is its delimiter another one? Set datasetOptions.delimiter, as in \";\"."
    )
    assert list(map(str, mistakes.value.problems)) == [f"dataset: {line}"]
    with pytest.raises(Mistakes, match=r"column: 't' is not in x\.jsonl\.$"):
        read(text('{"n": 1}\n', "x.jsonl"))
    assert read(text("n\n1\n", "y.csv"), columns=("n",)) == {"n": ["1"]}


def test_a_name_that_two_columns_have(text):
    with pytest.raises(Mistakes, match=r"'n' is the name of 2 columns of x\.csv"):
        read(text("n,n,t\n1,2,3\n", "x.csv"))
    assert read(text("n,m,m,t\n1,2,3,4\n", "y.csv")) == {"n": ["1"], "t": ["4"]}
