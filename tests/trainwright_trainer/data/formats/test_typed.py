"""Tables of Parquet, Feather and Arrow streams, and nested columns."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from trainwright_api.problems import Mistakes

from .reading import ROWS, read, stream


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


@pytest.mark.parametrize("coded", [(), ("t",)])
def test_an_arrow_stream(text, coded):
    numbers, words = ([row[part] for row in ROWS] for part in (0, 1))
    table = pa.table({"other": [{"a": 1}] * 4, "n": numbers, "t": words, "v": [[1.5]] * 4})
    path = text(stream(table), "x.arrow")
    assert read(path, coded=coded) == {"n": numbers, "t": words}
    assert read(path, ["other.a", "v"]) == {"other.a": [1] * 4, "v": [[1.5]] * 4}
    with pytest.raises(Mistakes, match=r"column: 'm' is not in x\.arrow"):
        read(path, ["m"])


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
