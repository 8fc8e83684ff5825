"""Every format returns the same rows, and every kind of damage gives one line."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import re
import sys
import zipfile
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from tests.workbook import write_workbook

from trainwright_api.problems import Mistakes
from trainwright_api.resource.dataset_options import DatasetOptions
from trainwright_trainer.data import source
from trainwright_trainer.data.files import find
from trainwright_trainer.data.formats.missing_words import without_na_values
from trainwright_trainer.errors import EnvironmentFailure

ROWS = [(1, "a"), (2, None), (3, "c, d"), (None, "e\nf")]
CSV = 'n,t,other\n1,a,x\n2,NA,x\n3,"c, d",x\n,"e\nf",x\n'


def no_bytes(value):
    """The id of a parameter, without bytes: archives contain the time, and all pytest workers need the same ids."""
    return "content" if isinstance(value, bytes) else None


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def read(path, columns=("n", "t"), coded=()):
    files = find(str(path))
    wanted = [(f"config.input_features[{n}].column", column) for n, column in enumerate(columns)]
    source.check(files, wanted)
    blocks = list(source.blocks(files, wanted, coded))
    return {column: [value for block in blocks for value in block.columns[column].to_pylist()] for column in columns}


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


@pytest.mark.parametrize("coded", [(), ("t",)])
@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_tables_keep_their_types(tmp_path, ending, coded):
    numbers, words = ([row[part] for row in ROWS] for part in (0, 1))
    table = pa.table({"n": numbers, "t": words, "other": ["x"] * 4})
    path = tmp_path / f"x.{ending}"
    pq.write_table(table, path, row_group_size=3) if ending == "parquet" else feather.write_feather(
        table, path, chunksize=3
    )
    assert read(path, coded=coded) == {"n": numbers, "t": words}


def stream(table, cut=lambda data: data):
    """The bytes of an Arrow IPC stream, as the library datasets writes it."""
    buffer = io.BytesIO()
    with pa.ipc.new_stream(buffer, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)
    return cut(buffer.getvalue())


@pytest.mark.parametrize("coded", [(), ("t",)])
def test_an_arrow_stream(text, coded):
    numbers, words = ([row[part] for row in ROWS] for part in (0, 1))
    table = pa.table({"other": [{"a": 1}] * 4, "n": numbers, "t": words, "v": [[1.5]] * 4})
    path = text(stream(table), "x.arrow")
    assert read(path, coded=coded) == {"n": numbers, "t": words}
    assert read(path, ["other.a", "v"]) == {"other.a": [1] * 4, "v": [[1.5]] * 4}
    with pytest.raises(Mistakes, match=r"column: 'm' is not in x\.arrow"):
        read(path, ["m"])


@pytest.mark.parametrize("name", ["x.jsonl", "x.ndjson", "x.json", "x.jsonl.gz"])
def test_json_lines(text, name):
    lines = "\n".join(json.dumps({"n": n, "t": t, "other": [1]}) for n, t in ROWS) + "\n"
    content = gzip.compress(lines.encode()) if name.endswith("gz") else lines
    assert read(text(content, name)) == {"n": [1, 2, 3, None], "t": [row[1] for row in ROWS]}


def test_json_text_that_looks_like_a_time_stays_text(text):
    lines = '{"t": "2024-01-01", "n": 1}\n{"t": "2024-01-02 03:04:05", "n": 2.5}\n'
    assert read(text(lines, "x.jsonl")) == {"t": ["2024-01-01", "2024-01-02 03:04:05"], "n": [1.0, 2.5]}


@pytest.mark.parametrize("name", ["x.jsonl", "x.json"])
def test_json_text_that_looks_like_a_time_stays_text_at_any_depth(text, name):
    row = {"l": ["2024-01-01"], "d": {"t": "2024-01-02", "n": 1, "z": None}, "o": [[{"t": "2024-01-03", "n": [1.5]}]]}
    rows = [json.dumps(row), '{"l": [], "d": null}']
    content = "\n".join(rows) if name == "x.jsonl" else f"[{', '.join(rows)}]"
    assert read(text(content, name), ["l", "d.t", "d.n", "d.z", "o"]) == {
        "l": [["2024-01-01"], []],
        "d.t": ["2024-01-02", None],
        "d.n": [1, None],
        "d.z": [None, None],
        "o": [row["o"], None],
    }


def test_a_json_column_of_mixed_types_becomes_text(text):
    lines = '{"t": "a", "n": 1}\n\n{"t": 2.5, "n": "b"}\n{"t": true}\n'
    assert read(text(lines, "x.jsonl")) == {"t": ["a", "2.5", "true"], "n": ["1", "b", None]}


@pytest.mark.parametrize("name", ["x.jsonl", "x.json"])
@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("18446744073709551616", "1", [2.0**64, 1.0]),
        ("[[18446744073709551616]]", "[null, [1]]", [[[2.0**64]], [None, [1.0]]]),
        ('[{"k": 18446744073709551616}]', "[]", [[{"k": 2.0**64}], []]),
        ("9007199254740993", "0.5", [2.0**53, 0.5]),
        ("18446744073709551616", '"a"', ["18446744073709551616", "a"]),
        ("9" * 400, '"a"', ["9" * 400, "a"]),
        ("1", "true", ["1", "true"]),
        ("18446744073709551616", "true", ["18446744073709551616", "true"]),
        ("9" * 400, "1", [float("inf"), 1.0]),
    ],
)
def test_large_whole_numbers_of_json_are_floats(text, name, one, two, expected):
    rows = [f'{{"n": {one}}}', f'{{"n": {two}}}']
    content = "\n".join(rows) if name == "x.jsonl" else f"[{', '.join(rows)}]"
    assert read(text(content, name), ["n"]) == {"n": expected}


@pytest.mark.parametrize("row", [r'{"n": "\ud800", "t": "a"}', r'{"n": ["\ud800"]}', r'{"\ud800": 1}'])
@pytest.mark.parametrize("name", ["x.jsonl", "x.json"])
def test_half_a_character_of_json_is_one_line(text, name, row):
    path = text(row if name == "x.jsonl" else f"[{row}]", name)
    line = r"has '\ud800', which is half of a character. Remove it, or write both halves, as in \ud83d\ude00."
    assert mistake_of(path) == f"dataset: {name!r} {line}"


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


def test_a_binary_file_beside_texts_is_named(text, tmp_path):
    text(CSV, "a.csv")
    text(gzip.compress(CSV.encode(), mtime=0), "b.csv")
    with pytest.raises(Mistakes, match=r"^dataset: 'b\.csv' is a gzip archive: end its name in \.gz"):
        read(tmp_path)


@pytest.mark.parametrize("header", ["PAR1", "ARROW1", "BZh1", "PK"])
def test_a_text_may_begin_like_a_binary_file(text, header):
    assert read(text(f"{header},n\na,1\n", "x.csv"), [header, "n"]) == {header: ["a"], "n": ["1"]}


def test_nothing_is_guessed_from_the_first_rows(text):
    rows = 300_000
    path = text("n,t\n" + "1,1\n" * rows + "1,x\n", "x.csv")
    found = read(path)
    assert len(found["t"]) == rows + 1
    assert (found["t"][0], found["t"][-1]) == ("1", "x")


NUMBERS = pa.table({"n": list(range(500)), "t": [str(number) for number in range(500)]})


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


@pytest.mark.parametrize(
    ("name", "content"), [("x.csv", "dep_delay,t\n1,2\n"), ("x.jsonl", '{"dep_delay": 1, "t": 2}\n')]
)
def test_a_column_that_is_not_there(text, name, content):
    with pytest.raises(Mistakes) as mistakes:
        read(text(content, name), columns=("t", "dep_dely", "zzz"))
    assert list(map(str, mistakes.value.problems)) == [
        f"config.input_features[1].column: 'dep_dely' is not in {name}. Nearest: 'dep_delay'.",
        f"config.input_features[2].column: 'zzz' is not in {name}.",
    ]


def test_the_nearest_names_of_a_column_that_is_not_there(text):
    names = "arr_delay,dep_delay,dep_delay_2,delay,carrier"
    with pytest.raises(Mistakes) as mistakes:
        read(text(f"{names}\n1,2,3,4,5\n", "x.csv"), columns=("dep_dely",))
    line = "'dep_dely' is not in x.csv. Nearest: 'dep_delay', 'dep_delay_2', 'delay'."
    assert str(mistakes.value) == f"config.input_features[0].column: {line}"


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


def mistake_of(path, columns=("n", "t")):
    with pytest.raises(Mistakes) as mistakes:
        read(path, columns)
    return str(mistakes.value)


def test_files_of_a_folder_follow_each_other(parquet, tmp_path):
    parquet({"n": [3.5, 4.5], "t": [None, None]}, "many/b.parquet")
    parquet({"t": ["a", "b"], "n": [1, 2]}, "many/a.parquet")
    assert read(tmp_path / "many") == {"n": [1.0, 2.0, 3.5, 4.5], "t": ["a", "b", None, None]}


def test_files_that_disagree_are_named(parquet, tmp_path):
    parquet({"n": [1], "t": ["a"]}, "many/a.parquet")
    parquet({"n": ["x"], "t": ["b"]}, "many/b.parquet")
    line = "'b.parquet' differs from the files before it: 'n' holds text, but numbers in 'a.parquet'."
    assert mistake_of(tmp_path / "many") == f"dataset: {line}"
    parquet({"t": [1]}, "many/b.parquet")
    line = "it has no column 'n'; 't' holds numbers, but text in 'a.parquet'."
    assert mistake_of(tmp_path / "many") == f"dataset: 'b.parquet' differs from the files before it: {line}"


def test_a_key_that_a_file_of_json_lacks_is_missing(text, tmp_path):
    text('{"x": 1, "h": "e"}\n', "folder/a.jsonl")
    text('{"x": 2, "g": {"k": "f"}}\n{"x": 3}\n', "folder/b.jsonl")
    text('[{"x": 4}]', "folder/c.json")
    text('{"x": 5, "g": {"k": "i"}}\n', "folder/d.jsonl")
    assert read(tmp_path / "folder", ["x", "g.k", "h"]) == {
        "x": [1, 2, 3, 4, 5],
        "g.k": [None, "f", None, None, "i"],
        "h": ["e", None, None, None, None],
    }
    assert source.columns_of(find(str(tmp_path / "folder"))) == ["x", "h", "g.k"]
    line = "config.input_features[0].column: 'hh' is not in folder. Nearest: 'h'."
    assert mistake_of(tmp_path / "folder", ["hh", "x"]) == line


def test_a_file_that_cannot_be_opened_is_the_environments(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    path.write_text("n,t\n1,2\n")

    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "open", refuse)
    with pytest.raises(EnvironmentFailure, match=r"dataset: '.*x\.csv' cannot be read \(Permission denied\)"):
        read(path)


MOMENT = datetime(2024, 1, 2, 3, 4, 5)
LATE = datetime(9999, 12, 31)
MIXES = {
    "numbers": ([1, 2], [0.5, 1.5], [1, 2, 0.5, 1.5]),
    "texts": (pa.array(["a"]), pa.array(["b"], pa.large_string()), ["a", "b"]),
    "a dictionary and texts": (pa.array(["a"]).dictionary_encode(), pa.array(["b"]), ["a", "b"]),
    "text views": (pa.array(["a"], pa.string_view()), pa.array(["b"]), ["a", "b"]),
    "views of bytes": (pa.array([b"a"], pa.binary_view()), pa.array([b"b"]), [b"a", b"b"]),
    "days and times": (pa.array([MOMENT.date()]), pa.array([MOMENT]), [datetime(2024, 1, 2), MOMENT]),
    "units of time": (pa.array([MOMENT], pa.timestamp("s")), pa.array([MOMENT], pa.timestamp("us")), [MOMENT] * 2),
    "decimals": (pa.array([Decimal("1.5")]), pa.array([Decimal("2.25")]), [Decimal("1.50"), Decimal("2.25")]),
    "a gap": (pa.nulls(2), pa.array(["a"]), [None, None, "a"]),
    "large whole numbers and a gap": ([2**53 + 1, 5], pa.array([1.0, None]), [2.0**53, 5.0, 1.0, None]),
    "signs": (pa.array([2**63 + 1024], pa.uint64()), [-1], [2.0**63, -1.0]),
    "late times": (pa.array([LATE]), pa.array([MOMENT], pa.timestamp("ns")), [LATE, MOMENT]),
    "late days": (pa.array([LATE.date()]), pa.array([MOMENT], pa.timestamp("ns")), [LATE, MOMENT]),
    "ids": (pa.array([2**53 + 1]).dictionary_encode(), [5], [2**53 + 1, 5]),
    "lists of numbers": ([[2**53 + 1]], [[0.5], None, []], [[2.0**53], [0.5], None, []]),
    "an empty category": (pa.DictionaryArray.from_arrays(pa.nulls(1, pa.int8()), pa.nulls(0)), ["a"], [None, "a"]),
    "an empty list": ([[]], [["a"]], [[], ["a"]]),
    "lists of days and times": ([[LATE.date()]], [[MOMENT]], [[LATE], [MOMENT]]),
}


@pytest.mark.parametrize(("one", "two", "expected"), MIXES.values(), ids=MIXES)
def test_types_of_one_kind_are_joined(tmp_path, one, two, expected):
    (tmp_path / "many").mkdir()
    for name, values in (("a", one), ("b", two)):
        feather.write_feather(pa.table({"n": values}), tmp_path / f"many/{name}.feather")
    assert read(tmp_path / "many", ["n"])["n"] == expected


@pytest.mark.parametrize("ending", ["parquet", "feather"])
@pytest.mark.parametrize("coded", [(), ("t",)])
def test_categories_of_several_files_may_be_more_than_the_codes_of_one(tmp_path, ending, coded):
    (tmp_path / "many").mkdir()
    for name in "ab":
        words = pa.DictionaryArray.from_arrays(pa.array(range(100), pa.int8()), [f"{name}{n}" for n in range(100)])
        write = pq.write_table if ending == "parquet" else feather.write_feather
        write(pa.table({"t": words}), tmp_path / f"many/{name}.{ending}")
    assert read(tmp_path / "many", ["t"], coded)["t"] == [f"{name}{n}" for name in "ab" for n in range(100)]


@pytest.mark.parametrize(
    ("one", "two", "words"),
    [
        (pa.array([Decimal("1.5")]), [1], "'n' holds numbers, but decimals in 'a.parquet'"),
        (pa.array([MOMENT], pa.timestamp("us", "UTC")), [MOMENT], "'n' holds dates, but times in the zone UTC in"),
        (["a"], [True], "'n' holds true and false, but text in 'a.parquet'"),
        ([["a"]], [[1]], "a list of 'n' holds numbers, but text in 'a.parquet'"),
        ([[["a"]]], [[[1]]], "a list of a list of 'n' holds numbers, but text in 'a.parquet'"),
        ([[1]], ["a"], "'n' holds text, but lists in 'a.parquet'"),
    ],
)
def test_kinds_that_differ_are_named(parquet, tmp_path, one, two, words):
    parquet({"n": one}, "many/a.parquet")
    parquet({"n": two}, "many/b.parquet")
    assert words in mistake_of(tmp_path / "many", ["n"])


def test_lists_of_json_that_differ_are_named(text, tmp_path):
    text('{"n": ["a"]}\n', "many/a.jsonl")
    text('{"n": []}\n', "many/b.jsonl")
    text('{"n": [1]}\n', "many/c.jsonl")
    assert "a list of 'n' holds numbers, but text in 'a.jsonl'" in mistake_of(tmp_path / "many", ["n"])


def test_types_without_a_common_one_are_one_line(tmp_path):
    (tmp_path / "many").mkdir()
    for name, scale in (("a", 0), ("b", 40)):
        values = pa.array([Decimal(1)], pa.decimal256(76, scale))
        feather.write_feather(pa.table({"n": values}), tmp_path / f"many/{name}.feather")
    line = "dataset: 'n' has types in its files that do not fit together: decimal256(76, 0) and decimal256(76, 40)."
    assert mistake_of(tmp_path / "many", ["n"]) == line


NESTED = [{"a": {"b": 1, "c": {"d": "x"}}, "n": 1}, {"a": None, "n": 2}, {"a": {"b": 3, "c": None}, "n": 3}]


@pytest.mark.parametrize("ending", ["parquet", "feather", "jsonl", "json"])
def test_nested_columns_are_read_by_their_path(tmp_path, ending):
    path, table = tmp_path / f"x.{ending}", pa.Table.from_pylist(NESTED)
    if ending == "parquet":
        pq.write_table(table, path)
    elif ending == "feather":
        feather.write_feather(table, path)
    else:
        rows = [json.dumps(row) for row in NESTED]
        path.write_text("\n".join(rows) if ending == "jsonl" else f"[{', '.join(rows)}]")
    assert read(path, ["a.b", "a.c.d", "n"]) == {"a.b": [1, None, 3], "a.c.d": ["x", None, None], "n": [1, 2, 3]}
    with pytest.raises(Mistakes, match=r"column: 'a.x' is not in x\.\w+\. Nearest: 'a\.b'"):
        read(path, ["a.x"])


def test_a_json_array(text):
    rows = [{"n": n, "t": t} for n, t in ROWS]
    for content in (json.dumps(rows), "\ufeff\n" + json.dumps(rows, indent=2)):
        assert read(text(content, "x.json")) == {"n": [1, 2, 3, None], "t": [row[1] for row in ROWS]}
    assert read(text(gzip.compress(json.dumps(rows).encode()), "x.json.gz"))["n"] == [1, 2, 3, None]


def test_folders_of_keys_are_columns(parquet, tmp_path):
    for year, part, n in ((2023, "a%20b", [1, 2]), (2024, "c", [3]), (2024, "__HIVE_DEFAULT_PARTITION__", [4])):
        parquet({"n": n, "year": [0] * len(n)}, f"many/year={year}/part={part}/0.parquet")
    expected = {"n": [1, 2, 4, 3], "year": ["2023", "2023", "2024", "2024"], "part": ["a b", "a b", None, "c"]}
    assert read(tmp_path / "many", list(expected)) == expected
    assert read(tmp_path / "many" / "year=*" / "*" / "*.parquet", list(expected)) == expected
    assert read(tmp_path / "many", ["part"])["part"] == expected["part"]
    assert read(tmp_path / "many" / "year=2023", ["n", "year"]) == {"n": [1, 2], "year": [0, 0]}
    assert "column: 'month' is not in many." in mistake_of(tmp_path / "many", ["month"])


@pytest.mark.parametrize("name", ["0.parquet", "0.csv"])
def test_a_key_that_counts_as_missing_is_null(parquet, text, tmp_path, name):
    for region, n in (("north", 1), ("unknown", 2)):
        path = f"many/region={region}/{name}"
        parquet({"n": [n]}, path) if name == "0.parquet" else text(f"n\n{n}\n", path)
    files = find(str(tmp_path / "many"), options=DatasetOptions(na_values=["unknown"]))
    for names in (["region"], ["n", "region"]):
        (block,) = source.blocks(files, [("x", name) for name in names], ())
        assert block.columns["region"].to_pylist() == ["north", None]


def test_a_file_outside_of_the_folders_lacks_their_keys(parquet, tmp_path):
    parquet({"n": [1]}, "many/year=2023/0.parquet")
    parquet({"n": [2]}, "many/z.parquet")
    line = "dataset: 'z.parquet' differs from the files before it: it has no column 'year'."
    assert mistake_of(tmp_path / "many", ["n", "year"]) == line


def workbook(path, *rows):
    return write_workbook(path, rows)


def test_a_workbook(tmp_path):
    day = date(2024, 1, 2)
    path = workbook(
        tmp_path / "x.xlsx",
        ["n", "t", "day", "flag", "mixed", 2024, "gap"],
        [1, "a", day, True, 1, 0.5, None],
        [2.5, None, MOMENT, False, "x", None, None],
        [None, "c", None, None, True, 3, None],
    )
    assert read(path, ["n", "t", "day", "flag", "mixed", "2024", "gap"]) == {
        "n": [1, 2.5, None],
        "t": ["a", None, "c"],
        "day": [datetime(2024, 1, 2), MOMENT, None],
        "flag": [True, False, None],
        "mixed": ["1", "x", "true"],
        "2024": [0.5, None, 3],
        "gap": [None] * 3,
    }
    assert "column: 'N' is not in x.xlsx. Nearest: 'n'" in mistake_of(path, ["N"])
    assert read(workbook(tmp_path / "y.xlsx", ["n"]), ["n"]) == {"n": []}
    assert mistake_of(workbook(tmp_path / "z.xlsx")) == "dataset: 'z.xlsx' is empty: its first sheet has no value."


def test_without_the_extra_the_command_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    line = "reading Excel needs one more package: pip install 'trainwright[excel]', or save 'x.xlsx' as CSV"
    assert mistake_of(workbook(tmp_path / "x.xlsx", ["n"]), ["n"]) == f"dataset: {line}"


def test_missing_words_are_found_in_bytes():
    table = pa.table({"x": pa.array([b"a", b"unknown"]), "y": pa.array(["unknown", "b"])})
    assert without_na_values(table, ["unknown"]).to_pydict() == {"x": [b"a", None], "y": [None, "b"]}
