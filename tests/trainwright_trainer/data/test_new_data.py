"""New data encoded with stored statistics, block by block: without split and cache, and without a lost row."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet
import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.data.datasets import DataFiles, DataTable
from trainwright_trainer.data.files import find
from trainwright_trainer.data.new_data import NewData
from trainwright_trainer.data.prepared import TEST, UNSAMPLED
from trainwright_trainer.data.preprocess import prepare


@pytest.fixture
def trained(parquet, columns, usual):
    found = prepare(usual(), parquet(columns), seed=0)
    found.finish()
    return found


def rows_of(config, statistics, path: str, *, targets: bool = True, **options) -> NewData:
    return NewData(DataFiles(find(path)), config, statistics, targets=targets, **options)


def encoded(data: NewData) -> dict[str, list]:
    """The columns of all blocks, by feature name."""
    found: dict[str, list] = {}
    for block in data.blocks():
        for name, column in block.data.columns.items():
            found.setdefault(name, []).extend(column.to_pylist())
    return found


def test_the_training_data_is_encoded_as_it_was(trained, parquet, columns, usual):
    data = rows_of(usual(), trained.statistics, parquet(columns, "new.parquet"))
    assert encoded(data) == {name: column.to_pylist() for name, column in trained.columns.items()}
    assert data.tally.rows == trained.rows


def test_a_table_in_memory_is_encoded_as_its_file(trained, parquet, columns, usual):
    path = parquet(columns, "new.parquet")
    data = NewData(DataTable(pa.parquet.read_table(path), "it"), usual(), trained.statistics, targets=True)
    assert encoded(data) == encoded(rows_of(usual(), trained.statistics, path))
    assert data.notices() == ("missing cells: 67 (b 19, c 16, n 12, d 11, v 9)",)


def test_a_prediction_needs_no_target_and_leaves_no_cache(trained, parquet, columns, usual, tmp_path):
    del columns["y"]
    data = rows_of(usual(), trained.statistics, parquet(columns, "new/new.parquet"), targets=False)
    assert list(encoded(data)) == ["n", "c", "b", "d", "v"]
    assert not (tmp_path / "new/.trainwright_cache").exists()


def test_one_row_is_enough(trained, parquet, usual):
    row = {"n": [1.0], "c": ["never seen"], "b": [None], "d": ["2030-01-01"], "v": [[1.0, 2.0]]}
    data = rows_of(usual(), trained.statistics, parquet(row, "new.parquet"), targets=False)
    found = encoded(data)
    assert data.tally.rows == 1
    assert found["c"] == [0]
    assert found["b"] == [0.0]
    assert data.notices() == ("missing cells: 1 (b 1) · categories that the model does not know: 1 (c 1)",)


def test_missing_cells_and_unknown_categories_are_one_line(trained, parquet, usual):
    rows = 3
    table = {
        "n": [None, "?", "1"], "c": [None, "never seen", "nor this"], "b": [True] * rows,
        "d": ["2030-01-01", "-", None], "v": [[1.0, 2.0]] * rows,
    }  # fmt: skip
    data = rows_of(usual(), trained.statistics, parquet(table, "new.parquet"), targets=False)
    encoded(data)
    line = "missing cells: 5 (n 2, d 2, c 1) · categories that the model does not know: 2 (c 2)"
    assert data.notices()[-1] == line


def test_of_many_columns_the_line_names_a_few(parquet, config):
    names = [f"n{number}" for number in range(10)]
    made = config([f"{name}:number" for name in names], ["y:binary"])
    number = {"normalization": None, "shift": 0.0, "scale": 1.0, "fill": 0.0, "min": 0.0, "max": 1.0, "std": 0.5}
    statistics = dict.fromkeys(names, number)
    path = parquet({name: [None, 1.0] for name in names}, "new.parquet")
    data = rows_of(made, statistics, path, targets=False)
    encoded(data)
    assert data.notices()[-1].startswith("missing cells: 10 (n0 1, ")
    assert data.notices()[-1].endswith("n7 1 and 2 more columns)")


def test_a_row_that_is_dropped_stays_as_a_null(parquet, config, trained):
    dropping = config([("n:number", {"missing_value_strategy": "drop_row"}), "c:category"], ["y:binary"])
    row = {"n": [None, 2.0, float("nan")], "c": ["a", "b", "c"], "y": [True, None, False]}
    found = encoded(rows_of(dropping, trained.statistics, parquet(row, "new.parquet")))
    assert [value is None for value in found["n"]] == [True, False, True]
    assert found["y"] == [1.0, None, 0.0]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"b": None}, r"config\.input_features\[2\]\.column: 'b' is not in new\.parquet"),
        ({"n": ["x"] * 200}, r"config\.input_features\[0\]: column 'n' is text from row 1 on \('x'\)"),
        ({"d": [1.5] * 200}, r"config\.input_features\[3\]: column 'd' holds numbers, which are no dates"),
        ({"v": [[1.0, 2.0, 3.0]] * 200}, r"config\.input_features\[4\]: column 'v' has 3 numbers in row 1"),
        ({"y": None}, r"config\.output_features\[0\]\.column: 'y' is not in new\.parquet"),
        ({name: [] for name in "ncbdvy"}, r"'new\.parquet' holds no rows"),
    ],
)
def test_what_does_not_fit_is_named(trained, parquet, columns, usual, change, line):
    columns.update(change)
    path = parquet({name: values for name, values in columns.items() if values is not None}, "new.parquet")
    with pytest.raises(Mistakes, match=line):
        encoded(rows_of(usual(), trained.statistics, path))


def test_all_mistakes_are_told_after_the_last_block(trained, parquet, columns, usual, monkeypatch):
    monkeypatch.setattr("trainwright_trainer.data.rows.BLOCK_ROWS", 50)
    columns["n"] = ["1"] * 100 + ["x"] * 100
    columns["d"] = ["2020-01-01"] * 199 + ["x"]
    with pytest.raises(Mistakes) as caught:
        encoded(rows_of(usual(), trained.statistics, parquet(columns, "new.parquet")))
    assert [problem.path for problem in caught.value.problems] == [
        "config.input_features[0]", "config.input_features[3]"
    ]  # fmt: skip


def test_gaps_are_filled_from_their_neighbours_across_blocks(parquet, config, trained, monkeypatch):
    monkeypatch.setattr("trainwright_trainer.data.rows.BLOCK_ROWS", 2)
    options = {"missing_value_strategy": "bfill", "normalization": None}
    table = {"n": [None, None, None, 2.0, None, 3.0, None, None], "y": [True, False] * 4, "id": list("abcdefgh")}
    filling = config([("n:number", options)], ["y:binary"], split={"type": "hash", "column": "n"})
    statistics = {**trained.statistics, "n": {"normalization": None, "shift": 0.0, "scale": 1.0, "fill": None}}
    path = parquet(table, "new.parquet")
    assert encoded(rows_of(filling, statistics, path))["n"] == [2, 2, 2, 2, 3, 3, 3, 3]
    blocks = list(rows_of(filling, statistics, path, kept=["id"]).blocks())
    assert [block.first_row for block in blocks] == [0, 2, 4, 6]
    assert [block.kept["id"].to_pylist() for block in blocks] == [["a", "b"], ["c", "d"], ["e", "f"], ["g", "h"]]


def test_kept_columns_are_raw(trained, parquet, columns, usual):
    columns["id"] = range(200)
    path = parquet(columns, "new.parquet")
    blocks = list(rows_of(usual(), trained.statistics, path, kept=["id", "c", "y"]).blocks())
    for name in ("id", "c", "y"):
        assert [value for block in blocks for value in block.kept[name].to_pylist()] == list(columns[name])
        assert not pa.types.is_dictionary(blocks[0].kept[name].type)
    with pytest.raises(Mistakes, match=r"--keep: 'ido' is not in new\.parquet\. Nearest: 'id'"):
        rows_of(usual(), trained.statistics, path, kept=["ido"])


def test_only_the_test_part_is_asked_for(trained, parquet, columns, usual, monkeypatch):
    monkeypatch.setattr("trainwright_trainer.data.rows.BLOCK_ROWS", 64)
    path = parquet(columns, "new.parquet")
    found = [block.data.splits for block in rows_of(usual(), trained.statistics, path, splits=trained.splits).blocks()]
    codes = [code for part in found for code in part.tolist()]
    assert codes == [TEST if code == TEST else UNSAMPLED for code in trained.splits.tolist()]


def test_bytes_are_encoded_as_their_text(trained, parquet, columns, usual):
    table = pa.parquet.read_table(parquet(columns, "new.parquet"))
    bytes_of = table.set_column(1, "c", table["c"].cast(pa.binary())).set_column(3, "d", table["d"].cast(pa.binary()))
    data = NewData(DataTable(bytes_of, "it"), usual(), trained.statistics, targets=True)
    assert encoded(data) == {name: column.to_pylist() for name, column in trained.columns.items()}
