"""The delimiter and the encoding of CSV files: found in the head of the file, or given."""

from __future__ import annotations

import gzip
from datetime import datetime
from decimal import Decimal
from typing import get_args

import numpy as np
import pyarrow as pa
import pytest

from trainwright_api.problems import Mistakes
from trainwright_api.resource.dataset_options import DatasetOptions, Encoding
from trainwright_trainer.data import source
from trainwright_trainer.data.content import content_of, hashes_now
from trainwright_trainer.data.datasets import DataFiles
from trainwright_trainer.data.files import find
from trainwright_trainer.data.formats.dialect import HEAD_BYTES, delimiter_of, encoding_of
from trainwright_trainer.data.formats.missing_words import without_na_values
from trainwright_trainer.data.new_data import NewData
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.frames.dask import DaskProcessor

TABLE = "name{0}size\nZoë{0}1\nJürgen{0}2\n"
DELIMITER_LINE = "read with delimiter ';', as its first rows show; datasetOptions sets another"
ROWS = {"name": ["Zoë", "Jürgen"], "size": ["1", "2"]}


def read(path, columns=("name", "size"), **options):
    files = find(path, options=DatasetOptions(**options))
    wanted = [(f"config.input_features[{n}].column", column) for n, column in enumerate(columns)]
    source.check(files, wanted)
    blocks = list(source.blocks(files, wanted, ()))
    found = {column: [value for block in blocks for value in block.columns[column].to_pylist()] for column in columns}
    return found, list(source.notices(files))


@pytest.mark.parametrize("name", ["x.csv", "x.tsv"])
@pytest.mark.parametrize("delimiter", [",", ";", "|", "\t"])
def test_the_delimiter_is_found(text, name, delimiter):
    found, lines = read(text(TABLE.format(delimiter), name))
    assert found == ROWS
    usual = delimiter == ("," if name == "x.csv" else "\t")
    line = f"read with delimiter {delimiter!r}, as its first rows show; datasetOptions sets another"
    assert lines == ([] if usual else [line])


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32"),
        ("latin-1", "windows-1252"),
        ("windows-1252", "windows-1252"),
    ],
)
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_the_encoding_is_found(text, encoding, told, ending):
    content = TABLE.format(";").encode(encoding)
    found, lines = read(text(gzip.compress(content) if ending else content, f"x.csv{ending}"))
    assert found == ROWS
    and_encoding = "" if told is None else f" and encoding {told}"
    assert lines == [f"read with delimiter ';'{and_encoding}, as its first rows show; datasetOptions sets another"]


def test_a_later_file_in_utf8_is_not_read_in_a_code_page(tmp_path):
    """Each byte of UTF-8 is a character of windows-1252, so that all of its texts would be others."""
    (tmp_path / "a.csv").write_bytes(TABLE.format(",").encode("windows-1252"))
    (tmp_path / "b.csv").write_text("name,size\nAda,3\n")
    assert read(str(tmp_path))[0]["name"] == ["Zoë", "Jürgen", "Ada"]
    (tmp_path / "b.csv").write_text(TABLE.format(","), encoding="utf-8")
    with pytest.raises(Mistakes, match=r"'b.csv' is UTF-8, and the first file is windows-1252\. "):
        read(str(tmp_path))
    assert len(read(str(tmp_path), encoding="windows-1252")[0]["name"]) == 4


def test_a_character_that_is_cut_at_the_end_of_the_head_is_no_error(text):
    rows = "ä,1\n" * (HEAD_BYTES // 5)
    head = f"name,size\n{rows}".encode()
    assert encoding_of(head[: head.rindex("ä".encode()) + 1]) == "utf-8"
    found, lines = read(text(f"name,size\n{rows}", "x.csv"))
    assert (found["name"], lines) == (["ä"] * (HEAD_BYTES // 5), [])


def test_bytes_that_no_code_page_has_are_latin_1():
    assert encoding_of(b"a\n\x81\x9d\n") == "latin-1"


def test_a_zero_byte_is_not_taken_for_utf_16(text):
    path = text(b"name,size\na\0b\xff,1\n", "x.csv")
    with pytest.raises(Mistakes, match=r"'x\.csv' is not UTF-8: line 2 holds the byte 0xff"):
        read(path)


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a\n1\n", ","),
        ("a,b\n1,2\n", ","),
        ('a,b\n"1;2;3",2\n', ","),
        ("a;b\n1,5;2,5\n", ";"),
        ('a;"b\nc"\n1;2\n', ";"),
        ("a|b|c\n1|2,3|4\n", "|"),
        ("a;b;c\n" + "1;2;3\n" * 20 + "1;2\n", ";"),
        ("a,b\n1;2\n", ","),
        ("", ","),
        ('a;b\n"1;2', ","),
    ],
)
def test_rows_show_the_delimiter(text, delimiter):
    assert delimiter_of(text, ",", is_whole=True) == delimiter


def test_the_last_row_of_a_head_may_be_cut():
    assert delimiter_of("a;b\n1;2\n3", ",", is_whole=False) == ";"
    assert delimiter_of("a;b\n1;2\n3", ",", is_whole=True) == ","


def test_a_given_delimiter_is_used_without_a_line(text):
    path = text("a;b,size\n1;x,3\n", "x.csv")
    assert read(path, ["a;b", "size"], delimiter=",") == ({"a;b": ["1;x"], "size": ["3"]}, [])
    assert read(path, ["a", "b,size"], delimiter=";") == ({"a": ["1"], "b,size": ["x,3"]}, [])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("line", ["sep=;\n", "sep=;\r\n", '"sep=;"\n', "SEP=;\n"])
def test_the_line_of_excel_names_the_delimiter(text, line, encoding):
    path = text(f"{line}{TABLE.format(';')}".encode(encoding), "x.csv")
    found, lines = read(path)
    assert (found, lines[0].partition(",")[0].partition(" and")[0]) == (ROWS, "read with delimiter ';'")
    assert read(path, ["column_1", "column_2"], header=False)[0]["column_2"] == ["size", "1", "2"]


def test_the_line_of_excel_counts_in_the_lines_of_errors(text):
    with pytest.raises(Mistakes, match=r"'x\.csv' has 3 values in line 4, its header has 2\."):
        read(text("sep=,\nname,size\na,1\nb,2,3\n", "x.csv"))


def test_the_line_of_excel_may_be_in_some_files_only(text, tmp_path):
    text("sep=|\nname|size\na|1\n", "folder/a.csv")
    text("name|size\nb|2\n", "folder/b.csv")
    assert read(str(tmp_path / "folder"))[0] == {"name": ["a", "b"], "size": ["1", "2"]}
    assert read(str(tmp_path / "folder"), ["name|size"], delimiter=",")[0] == {"name|size": ["a|1", "b|2"]}


@pytest.mark.parametrize("encoding", get_args(Encoding))
def test_a_given_encoding_is_used_without_a_line(text, encoding):
    """`word` is a text that this encoding and no code page of western Europe can hold, where there is one."""
    words = {"iso-8859-2": "łódź", "windows-1250": "łódź", "windows-1251": "мир", "koi8-r": "мир", "big5": "中文"}
    words |= {
        "windows-1253": "λόγος",
        "windows-1254": "ışık",
        "iso-8859-15": "5€",
        "shift-jis": "日本",
        "euc-jp": "日本",
    }
    words |= {"euc-kr": "한국", "gb18030": "中国"}
    word = words.get(encoding, "Zoë")
    path = text(f"name,size\n{word},1\n".encode(encoding), "x.csv")
    assert read(path, encoding=encoding) == ({"name": [word], "size": ["1"]}, [])


def test_a_text_that_is_not_in_the_given_encoding_is_named(text):
    path = text(b"name,size\nok,1\n\x81,2\n", "x.csv")
    with pytest.raises(Mistakes, match=r"'x\.csv' is not SHIFT-JIS: line 3 holds the byte 0x81"):
        read(path, encoding="shift-jis")


def test_a_file_without_a_header(text):
    path = text("Zoë,1\nJürgen,2\n", "x.csv")
    assert read(path, ["column_1", "column_2"], header=False)[0] == {
        "column_1": ["Zoë", "Jürgen"],
        "column_2": ["1", "2"],
    }
    assert read(path, ["Zoë", "1"], header=True)[0] == {"Zoë": ["Jürgen"], "1": ["2"]}


DECIMALS = "size;name;code\n1,5;a;1,2\n;b;1,2,3\n-20;c;7\n0,125;1,5;7\n"


@pytest.mark.parametrize("coded", [(), ("size", "name", "code")])
def test_a_decimal_comma_is_found_in_columns_of_numbers(text, coded):
    files = find(text(DECIMALS, "x.csv"))
    (block,) = source.blocks(files, [("x", "size"), ("x", "name"), ("x", "code")], coded)
    assert {name: column.to_pylist() for name, column in block.columns.items()} == {
        "size": ["1.5", None, "-20", "0.125"],
        "name": ["a", "b", "c", "1,5"],
        "code": ["1,2", "1,2,3", "7", "7"],
    }
    line = "read with delimiter ';' and decimal comma, as its first rows show; datasetOptions sets another"
    assert list(source.notices(files)) == [line]


def test_a_decimal_comma_that_is_given_acts_in_every_column(text):
    rows = DECIMALS.replace("1,5", "1,500").replace("0,125", "2,125").encode("latin-1")
    assert read(text(rows, "x.csv"), ["size"])[0] == {"size": ["1,500", None, "-20", "2,125"]}  # perhaps thousands
    given = {"size": ["1.5000", None, "-20", "2.1250"], "name": ["a", "b", "c", "1.5000"]}
    assert read(text(rows, "x.csv"), ["size", "name"], decimal=",") == (given, [DELIMITER_LINE])
    assert read(text(DECIMALS, "x.csv"), ["size"], decimal=".")[0] == {"size": ["1,5", None, "-20", "0,125"]}


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_quoted_decimal_comma(text, delimiter):
    path = text(f'name{delimiter}size\na{delimiter}"1,5"\nb{delimiter}"2,25"\n', "x.csv")
    found = {"size": ["1.5", "2.25"] if delimiter == ";" else ["1,5", "2,25"]}
    assert read(path, ["size"])[0] == found
    assert read(path, ["size"], decimal=",")[0] == {"size": ["1.5", "2.25"]}


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet"])
def test_words_for_a_missing_value(text, parquet, name):
    if name == "x.parquet":
        path = parquet({"name": ["a", "unknown", None], "size": [1, 2, 3]}, name)
    elif name == "x.jsonl":
        path = text('{"name": "a", "size": 1}\n{"name": "unknown", "size": 2}\n{"name": null, "size": 3}\n', name)
    else:
        path = text("name,size\na,1\nunknown,2\n,3\n", name)
    assert read(path)[0]["name"] == ["a", "unknown", None]
    assert read(path, na_values=["unknown", "999"])[0]["name"] == ["a", None, None]
    for coded in ((), ("name",)):
        files = find(path, options=DatasetOptions(na_values=["unknown"]))
        (block,) = source.blocks(files, [("x", "name")], coded)
        assert block.columns["name"].to_pylist() == ["a", None, None]


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet"])
def test_a_number_that_counts_as_missing_does_so_in_every_format(text, parquet, config, name):
    sizes = [999 if row % 4 == 0 else row for row in range(40)]
    if name == "x.parquet":
        path = parquet({"size": sizes, "y": [row % 2 for row in range(40)]}, name)
    elif name == "x.jsonl":
        path = text("".join(f'{{"size": {size}, "y": {row % 2}}}\n' for row, size in enumerate(sizes)), name)
    else:
        path = text("size,y\n" + "".join(f"{size},{row % 2}\n" for row, size in enumerate(sizes)), name)
    options = DatasetOptions(na_values=["unknown", "999"])
    data = prepare(config(["size:number"], ["y:binary"]), path, seed=0, options=options)
    data.finish()
    assert data.statistics["size"]["max"] == 37  # of the training rows
    assert any(line.startswith("missing cells in the training rows: ") for line in data.notices)


DAY = datetime(2020, 1, 1)


@pytest.mark.parametrize(
    ("values", "kind", "words", "missing"),
    [
        ([999, 1], pa.int16(), ["999", "99999"], [True, False]),
        ([999, 1], pa.int64(), ["999.0"], [False, False]),
        ([7, 5], pa.int64(), ["007", "+5", " 7", ""], [False, False]),
        ([1, 2], pa.uint64(), ["-1"], [False, False]),
        ([999.0, 0.1], pa.float64(), ["999"], [True, False]),
        ([999.0, 0.1], pa.float32(), ["999.0", "0.1"], [True, True]),
        ([float("inf"), 0.1], pa.float32(), ["1e99"], [False, False]),
        ([float("inf"), 0.1], pa.float32(), ["inf"], [True, False]),
        ([np.float16(999), np.float16(1)], pa.float16(), ["999"], [True, False]),
        ([Decimal(999), Decimal(1)], pa.decimal128(9, 3), ["999", "0.12345"], [True, False]),
        ([DAY.date(), None], pa.date32(), ["2020-01-01", "2020"], [True, True]),
        ([DAY, None], pa.timestamp("us"), ["2020-01-01"], [True, True]),
        ([True, False], pa.bool_(), ["1", "true"], [False, False]),
        ([[1], [2]], pa.list_(pa.int64()), ["1"], [False, False]),
        ([None, None], pa.null(), ["1"], [True, True]),
    ],
)
def test_words_are_missing_as_values_of_the_type_of_a_column(values, kind, words, missing):
    column = pa.array(values, kind)
    found = without_na_values(pa.table({"x": column}), words)["x"]
    assert (found.type, found.is_null().to_pylist()) == (kind, missing)
    if pa.types.is_primitive(kind):
        coded = without_na_values(pa.table({"x": column.dictionary_encode()}), words)["x"]
        assert coded.cast(kind).is_null().to_pylist() == missing


def test_options_that_change_the_values_change_the_content(text):
    path = text("name,size\na,1\n", "x.csv")
    given = [{}, {"delimiter": ";"}, {"encoding": "utf-16"}, {"na_values": ["a"]}, {"header": False}]
    given += [{"format": "tsv"}, {"decimal": ","}]
    files = [find(path, options=DatasetOptions(**options)) for options in (*given, {"format": "csv"})]
    *contents, as_csv = [content_of(one, hashes_now(one)) for one in files]
    assert len(set(contents)) == len(given)
    assert as_csv == contents[0]


def test_a_run_prints_how_it_reads_a_file(text, config):
    path = text("n;y\n" + "".join(f"{row};{row % 2}\n" for row in range(100)), "x.csv")
    some = config(["n:number"], ["y:binary"])
    line = "read with delimiter ';', as its first rows show; datasetOptions sets another"
    data = prepare(some, path, seed=0)
    data.finish()
    assert data.notices == (line,)
    assert NewData(DataFiles(find(path)), some, data.statistics, targets=True).notices() == (line,)
    options = DatasetOptions(delimiter=";")
    given = prepare(some, path, seed=0, options=options)
    assert (given.notices, given.statistics) == ((), data.statistics)
    found = DataFiles(find(path, options=options))
    assert NewData(found, some, data.statistics, targets=True).notices() == ()


def thousands(text, *rows, head="y;rate;n\n"):
    """A file of 40 rows. Its column `rate` has decimal commas, its column `n` has these texts again and again."""
    return text(head + "".join(f"{row % 2};0,{row};{rows[row % len(rows)]}\n" for row in range(40)), "x.csv")


@pytest.mark.parametrize(
    ("rows", "options", "row", "value"),
    [
        (["500", "1.007", "502"], {}, 2, "1.007"),
        (["500", "-1.234.567"], {}, 2, "-1.234.567"),
        (["1.001", "900,5"], {}, 1, "1.001"),
        (["900,5", "1.007,5"], {}, 2, "1.007,5"),
        (["1.5", "1.001"], {"decimal": ","}, 2, "1.001"),
    ],
)
@pytest.mark.parametrize("use", ["pandas", "dask", "new data"])
def test_points_that_separate_thousands_beside_decimal_commas_are_named(text, config, rows, options, row, value, use):
    some = config(["n:number", "rate:number"], ["y:binary"])
    given = DatasetOptions(**options)

    def read_numbers():
        if use == "new data":
            known = prepare(some, thousands(text, "500"), seed=0)
            known.finish()
            files = find(thousands(text, *rows), options=given)
            list(NewData(DataFiles(files), some, known.statistics, targets=True).blocks())
            return
        processor = DaskProcessor({"scheduler": "synchronous"}, tasks=3) if use == "dask" else None
        prepare(some, thousands(text, *rows), seed=0, options=given, processor=processor)

    with pytest.raises(Mistakes) as caught:
        read_numbers()
    assert [problem.message for problem in caught.value.problems] == [
        f"column 'n' has a point before three digits in row {row} ({value!r}), which separates thousands here: "
        "write none, as in 1007. (Row 1 is the first row of data.)"
    ]


@pytest.mark.parametrize(
    ("rows", "options", "largest"),
    [
        (["1.007", "1.5", "0.25"], {}, 1.5),
        (["0.125", "0.250"], {}, 0.25),
        (["1.007", "n/a"], {"decimal": ".", "delimiter": ";"}, 1.007),
        (["1.5", "1,25"], {"decimal": ","}, 1.5),
        (["1,234", " -2,500 ", "1234,567"], {"decimal": ","}, 1234.567),
        (["1,5", "1,234", "+999,125"], {}, 999.125),
    ],
)
def test_points_that_separate_decimals_beside_decimal_commas_are_read(text, config, rows, options, largest):
    some = config(["n:number"], ["y:binary"])
    data = prepare(some, thousands(text, *rows), seed=0, options=DatasetOptions(**options))
    data.finish()
    assert data.statistics["n"]["max"] == largest


def test_points_before_three_digits_separate_decimals_in_a_file_without_decimal_commas(text, config):
    path = text("y;n\n" + "".join(f"{row % 2};1.00{row % 10}\n" for row in range(40)), "x.csv")
    data = prepare(config(["n:number"], ["y:binary"]), path, seed=0)
    data.finish()
    assert data.statistics["n"]["max"] == 1.009


def test_points_in_columns_that_are_no_numbers_stay(text, config):
    data = prepare(config(["n:category"], ["y:binary"]), thousands(text, "1.007", "2.000"), seed=0)
    data.finish()
    assert set(data.statistics["n"]["vocabulary"]) >= {"1.007", "2.000"}


def test_rows_with_separators_of_thousands_can_be_dropped(text, config):
    some = config([("n:number", {"missing_value_strategy": "drop_row"})], ["y:binary"])
    data = prepare(some, thousands(text, "500", "1.007", "502", "503"), seed=0)
    data.finish()
    assert data.statistics["n"]["max"] == 503
    assert "column 'n': rows left out by drop_row: 10" in data.notices
