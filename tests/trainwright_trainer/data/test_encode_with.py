"""New data encoded with stored statistics: without split and cache, and without a lost row."""

from __future__ import annotations

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.data.prepared import TEST
from trainwright_trainer.data.preprocess import encode_with, prepare


@pytest.fixture
def trained(parquet, columns, usual):
    found = prepare(usual(), parquet(columns), seed=0)
    found.finish()
    return found


def test_the_training_data_is_encoded_as_it_was(trained, parquet, columns, usual):
    found = encode_with(usual(), trained.statistics, parquet(columns, "new.parquet"), targets=True)
    assert {name: column.to_pylist() for name, column in found.columns.items()} == {
        name: column.to_pylist() for name, column in trained.columns.items()
    }
    assert set(found.splits.tolist()) == {TEST}
    assert found.statistics == trained.statistics
    assert not found.cache_hit


def test_a_prediction_needs_no_target_and_leaves_no_cache(trained, parquet, columns, usual, tmp_path):
    del columns["y"]
    found = encode_with(usual(), trained.statistics, parquet(columns, "new/new.parquet"), targets=False)
    assert list(found.columns) == ["n", "c", "b", "d", "v"]
    assert not (tmp_path / "new/.trainwright_cache").exists()


def test_one_row_is_enough(trained, parquet, usual):
    row = {"n": [1.0], "c": ["never seen"], "b": [None], "d": ["2030-01-01"], "v": [[1.0, 2.0]]}
    found = encode_with(usual(), trained.statistics, parquet(row, "new.parquet"), targets=False)
    assert found.rows == 1
    assert found.columns["c"].to_pylist() == [0]
    assert found.columns["b"].to_pylist() == [0.0]


def test_a_row_that_is_dropped_stays_as_a_null(parquet, config, trained):
    dropping = config([("n:number", {"missing_value_strategy": "drop_row"}), "c:category"], ["y:binary"])
    row = {"n": [None, 2.0, float("nan")], "c": ["a", "b", "c"], "y": [True, None, False]}
    found = encode_with(dropping, trained.statistics, parquet(row, "new.parquet"), targets=True)
    assert found.rows == 3
    assert [value is None for value in found.columns["n"].to_pylist()] == [True, False, True]
    assert found.columns["y"].to_pylist() == [1.0, None, 0.0]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"b": None}, r"config\.input_features\[2\]\.column: 'b' is not in new\.parquet"),
        ({"n": ["x"] * 200}, r"config\.input_features\[0\]: column 'n' is text from row 1 on \('x'\)"),
        ({"d": [1.5] * 200}, r"config\.input_features\[3\]: column 'd' holds numbers, which are no dates"),
        ({"v": [[1.0, 2.0, 3.0]] * 200}, r"config\.input_features\[4\]: column 'v' has 3 numbers in row 1"),
        ({"y": None}, r"config\.output_features\[0\]\.column: 'y' is not in new\.parquet"),
    ],
)
def test_what_does_not_fit_is_named(trained, parquet, columns, usual, change, line):
    columns.update(change)
    path = parquet({name: values for name, values in columns.items() if values is not None}, "new.parquet")
    with pytest.raises(Mistakes, match=line):
        encode_with(usual(), trained.statistics, path, targets=True)


def test_gaps_are_filled_from_their_neighbours_across_blocks(parquet, config, trained, monkeypatch):
    monkeypatch.setattr("trainwright_trainer.data.rows.BLOCK_ROWS", 2)
    options = {"missing_value_strategy": "bfill", "normalization": None}
    table = {"n": [None, None, None, 2.0, None, 3.0, None, None], "y": [True, False] * 4}
    filling = config([("n:number", options)], ["y:binary"], split={"type": "hash", "column": "n"})
    statistics = {**trained.statistics, "n": {"normalization": None, "shift": 0.0, "scale": 1.0, "fill": None}}
    found = encode_with(filling, statistics, parquet(table, "new.parquet"), targets=True)
    assert found.columns["n"].to_pylist() == [2, 2, 2, 2, 3, 3, 3, 3]
