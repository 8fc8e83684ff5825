from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from trainwright_trainer.data.files import find
from trainwright_trainer.data.raw_rows import raw_rows
from trainwright_trainer.data.rows import BLOCK_ROWS, IMAGE_BLOCK_ROWS
from trainwright_trainer.data.source import DataSource

ROWS = 2 * BLOCK_ROWS + 10
TABLE = pa.table({"a": range(ROWS), "b": [None if i % 3 == 0 else f"text {i}" for i in range(ROWS)], "c": [1] * ROWS})
WANTED = [("config.input_features[0].column", "a"), ("config.input_features[1].column", "b")]


@pytest.fixture(params=["csv", "parquet"])
def dataset(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    path = tmp_path / f"data.{request.param}"
    pyarrow.csv.write_csv(TABLE, path) if request.param == "csv" else pyarrow.parquet.write_table(TABLE, path)
    return str(path)


def test_the_rows_are_those_of_the_file(dataset: str) -> None:
    rows = [0, 7, BLOCK_ROWS - 1, BLOCK_ROWS, ROWS - 1]
    found = raw_rows(DataSource(find(dataset), WANTED, ()), rows, bool)
    assert sorted(found) == rows
    for row in rows:
        assert int(found[row]["a"]) == row
        assert found[row]["b"] == (None if row % 3 == 0 else f"text {row}")
        assert found[row].keys() == {"a", "b"}


def test_small_blocks_have_the_same_rows(dataset: str) -> None:
    """Of a data set with images."""
    rows = [10, 300, 900, ROWS - 1]
    found = raw_rows(DataSource(find(dataset), WANTED, (), IMAGE_BLOCK_ROWS), rows, bool)
    assert {row: int(found[row]["a"]) for row in found} == {row: row for row in rows}


def test_late_rows_are_missing(dataset: str) -> None:
    found = raw_rows(DataSource(find(dataset), WANTED, ()), [3, ROWS - 1], lambda: True)
    assert sorted(found) == [3]
