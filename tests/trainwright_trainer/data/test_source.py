"""The columns of one file or of several: names, types that are joined, keys of folders."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from trainwright_api.problems import Mistakes
from trainwright_api.resource.dataset_options import DatasetOptions
from trainwright_trainer.data import source
from trainwright_trainer.data.files import find

from .formats.reading import MOMENT, mistake_of, read


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


def test_types_without_a_common_one_are_one_line(tmp_path):
    (tmp_path / "many").mkdir()
    for name, scale in (("a", 0), ("b", 40)):
        values = pa.array([Decimal(1)], pa.decimal256(76, scale))
        feather.write_feather(pa.table({"n": values}), tmp_path / f"many/{name}.feather")
    line = "dataset: 'n' has types in its files that do not fit together: decimal256(76, 0) and decimal256(76, 40)."
    assert mistake_of(tmp_path / "many", ["n"]) == line


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
