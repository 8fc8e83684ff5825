"""In-memory tables as a Parquet file."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.tasks.given_data import names_to_keep, path_of, table_of


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param([1.5, np.nan], [1.5, None], id="NaN is missing"),
        pytest.param(pd.array([1, None], dtype="Int64"), [1, None], id="nullable integers"),
        pytest.param(pd.Categorical(["b", None]), ["b", None], id="categories"),
        pytest.param(pd.Categorical([3, 4]), [3, 4], id="categories of numbers"),
        pytest.param(np.array(["a", None], dtype=object), ["a", None], id="objects"),
        pytest.param(pd.array(["a", None], dtype="string"), ["a", None], id="strings"),
        pytest.param(np.array([1, "N14", None], dtype=object), ["1", "N14", None], id="mixed is text"),
        pytest.param([1 + 2j, None], ["(1+2j)", None], id="what Arrow does not know is text"),
        pytest.param(pd.cut([1.5, 9, np.nan], [0, 5, 10]), ["(0.0, 5.0]", "(5.0, 10.0]", None], id="intervals"),
        pytest.param([True, False], [True, False], id="booleans"),
        pytest.param([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]], id="vectors"),
        pytest.param(
            pd.to_datetime(["2020-01-02", None]), [datetime.datetime(2020, 1, 2), None], id="times"
        ),
        pytest.param([2**70, 1], [str(2**70), "1"], id="numbers of any size"),
    ],
)  # fmt: skip
def test_a_column_of_pandas(values, expected):
    found = table_of(pd.DataFrame({"x": values})).column("x").to_pylist()
    assert found == expected


def test_names_are_text_and_the_index_does_not_count():
    frame = pd.DataFrame({1: [1], ("a", "b"): [2]}, index=["row"])
    assert table_of(frame).column_names == ["1", "('a', 'b')"]


def test_half_a_character_is_one_line():
    with pytest.raises(Mistakes, match=r"dataset: column 'x' has text that is no Unicode: .* surrogates not allowed"):
        table_of(pd.DataFrame({"x": pd.Series(["a", "\udcff"], dtype=object)}))


def test_columns_to_keep_are_named_as_the_frame_names_them():
    assert names_to_keep(pd.Index([0, "a"])) == ("0", "a")


def test_equal_tables_are_equal_files():
    def written(table) -> bytes:
        with path_of(table) as path:
            assert path is not None
            return Path(path).read_bytes()

    frame = pd.DataFrame({"x": [1.5, 2.5], "y": ["a", "b"]})
    assert written(frame) == written(frame.copy())
    assert written(frame) != written(frame.tail(1))
    table = pa.table({"x": [1, 2]})
    assert written(table) == written(table.replace_schema_metadata({"by": "me"}))


def test_the_file_is_gone_at_the_end_and_after_a_mistake():
    with path_of(pa.table({"x": [1]})) as path:
        assert path is not None
        assert pyarrow.parquet.read_table(path).to_pydict() == {"x": [1]}
    assert not Path(path).parent.exists()


@pytest.mark.parametrize("path", [None, "data.csv", "s3://bucket/data"])
def test_a_path_stays(path):
    with path_of(path) as found:
        assert found == path


class Stream:
    """The Arrow interface that polars and others offer."""

    def __arrow_c_stream__(self, requested_schema=None):
        return pa.table({"x": [1]}).__arrow_c_stream__(requested_schema)


def test_any_arrow_table_is_one():
    assert table_of(Stream()).to_pydict() == {"x": [1]}


def test_what_is_no_table_is_a_mistake():
    with pytest.raises(Mistakes, match="found an object of type dict"):
        table_of({"x": [1]})
    with pytest.raises(Mistakes, match="found an object of type Series"):
        table_of(pd.DataFrame({"x": [1], "y": ["a"]}).iloc[0])


def test_what_parquet_cannot_hold_is_a_mistake():
    kind = pa.month_day_nano_interval()
    with (
        pytest.raises(Mistakes, match="the table cannot be kept as Parquet: "),
        path_of(pa.table({"x": pa.array([None], kind)})),
    ):
        pass


def test_a_disk_that_refuses_is_the_machines_fault(monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pyarrow.parquet, "write_table", refuse)
    with pytest.raises(EnvironmentFailure, match="cannot be written: No space left"), path_of(pa.table({"x": [1]})):
        pass
