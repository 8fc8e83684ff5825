"""Preprocessing from raw files to encoded columns."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.data.prepared import TEST, TRAIN, UNSAMPLED, VALIDATION
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.data.split import random_parts
from trainwright_trainer.frames.pandas import PandasProcessor

from .prepared_values import plain


def test_rows_stay_in_the_order_of_the_source(parquet, columns, usual):
    found = prepare(usual(), parquet(columns), seed=7)
    found.finish()
    assert found.rows == 200
    assert found.splits.tolist() == random_parts(7, np.arange(200), (0.7, 0.1, 0.2)).tolist()
    assert found.columns["y"].to_pylist() == [float(flag) for flag in columns["y"]]
    assert list(found.columns) == ["n", "c", "b", "d", "v", "y"]
    training = [value for value, part in zip(columns["n"], found.splits, strict=True) if part == TRAIN]
    present = [value for value in training if value is not None]
    assert found.statistics["n"]["mean"] == pytest.approx(np.mean(present))
    assert (found.statistics["n"]["rows"], found.statistics["n"]["missing"]) == (
        len(training),
        len(training) - len(present),
    )


def test_two_features_may_read_one_column(parquet, columns, config):
    two = config([("n:number", {}), "c:category"], ["y:binary"])
    three = two.model_copy(
        update={
            "input_features": [
                *two.input_features,
                two.input_features[1].model_copy(update={"name": "again", "column": "n"}),
            ]
        }
    )
    found = prepare(three, parquet(columns), seed=0)
    found.finish()
    assert found.statistics["again"]["vocabulary"][1][:1].isdigit()
    assert found.statistics["n"] == prepare(two, parquet(columns, "o.parquet"), seed=0).statistics["n"]


FILES = {
    "csv": lambda table, path: path.write_text(
        "\n".join(
            [
                ",".join(table),
                *(",".join("" if v is None else str(v) for v in row) for row in zip(*table.values(), strict=True)),
            ]
        )
        + "\n"
    ),
    "jsonl": lambda table, path: path.write_text(
        "\n".join(json.dumps(dict(zip(table, row, strict=True))) for row in zip(*table.values(), strict=True)) + "\n"
    ),
    "feather": lambda table, path: feather.write_feather(pa.table(table), path, chunksize=37),
}


@pytest.mark.parametrize("ending", FILES)
def test_every_format_gives_the_same_columns(parquet, columns, config, tmp_path, ending):
    del columns["v"]
    some = config(["n:number", "c:category", "b:binary", "d:date"], ["y:binary"])
    expected = prepare(some, parquet(columns), seed=3)
    path = tmp_path / f"data.{ending}"
    FILES[ending](columns, path)
    found = prepare(some, str(path), seed=3)
    for one in (expected, found):
        one.finish()
    assert found.splits.tolist() == expected.splits.tolist()
    for name in expected.columns:
        assert found.columns[name].to_pylist() == expected.columns[name].to_pylist()


@pytest.mark.parametrize("threads", [1, 4])
def test_the_processor_changes_nothing(parquet, usual, threads):
    rng = np.random.default_rng(0)
    rows = 150_000
    table = {
        "n": rng.normal(size=rows),
        "c": rng.integers(0, 50, rows).astype(str).tolist(),
        "b": rng.random(rows) < 0.5,
        "d": np.datetime64("2024-01-01", "s") + rng.integers(0, 10**7, rows),
        "v": pa.FixedSizeListArray.from_arrays(pa.array(rng.normal(size=2 * rows)), 2),
        "y": rng.random(rows) < 0.3,
    }
    path = parquet(table, row_group_size=40_000)

    class Backwards:
        def stage(self, source, clean):
            self.cleaned = [clean(block) for block in reversed(list(source.blocks()))]
            return self

        def map(self, function, **_):
            return iter([function(block) for block in self.cleaned][::-1])

    one = prepare(usual(), path, seed=0, cache_dir=f"{path}.1", processor=Backwards())
    other = prepare(usual(), path, seed=0, cache_dir=f"{path}.2", processor=PandasProcessor(threads))
    for found in (one, other):
        found.finish()
    assert one.cache_key == other.cache_key
    assert json.dumps(one.statistics) == json.dumps(other.statistics)
    assert all(one.columns[name].equals(other.columns[name]) for name in one.columns)


def test_all_mistakes_are_reported_at_once(parquet, columns, config):
    columns["n"] = [f"text {row}" for row in range(200)]
    columns["b"] = [row % 3 for row in range(200)]
    with pytest.raises(Mistakes) as mistakes:
        prepare(config(["c:category", "n:number", "b:binary"], ["y:binary"]), parquet(columns), seed=0)
    assert [problem.path for problem in mistakes.value.problems] == [
        "config.input_features[1]",
        "config.input_features[2]",
    ]
    assert "'n' is text from row 1 on ('text 0')" in mistakes.value.problems[0].message


def test_row_numbers_count_over_blocks(parquet, config):
    texts = ["1"] * 100_000
    texts[70_000] = "x"
    path = parquet({"n": texts, "y": [row % 2 for row in range(100_000)]})
    with pytest.raises(Mistakes, match="is text from row 70,001 on"):
        prepare(config(["n:number"], ["y:binary"]), path, seed=0)


def test_a_target_of_one_class_is_a_mistake(parquet, config):
    table = {"n": list(range(99)), "y": ["a"] * 99}
    with pytest.raises(Mistakes, match=r"config\.output_features\[0\]: column 'y' has one value \('a'\)"):
        prepare(config(["n:number"], ["y:category"]), parquet(table), seed=0)


def test_text_that_is_not_utf8_in_a_binary_format_is_reported(parquet, config):
    offsets = pa.py_buffer(np.arange(5, dtype=np.int32))
    bad = pa.Array.from_buffers(pa.string(), 4, [None, offsets, pa.py_buffer(b"\xe9\xe8ab")])
    path = parquet({"c": bad, "y": [0, 1, 0, 1], "split": [0, 0, 1, 2]})
    with pytest.raises(Mistakes, match=r"input_features\[0\]: column 'c' holds text that is not UTF-8"):
        prepare(config(["c:category"], ["y:binary"], split={"type": "fixed"}), path, seed=0)
    with pytest.raises(Mistakes, match=r"split\.column: column 'c' holds text that is not UTF-8"):
        prepare(config(["c:category"], ["y:binary"], split={"type": "hash", "column": "c"}), path, seed=0)


TYPES = ["number", "category", "binary", "date", "vector", "set", "bag", "sequence", "text"]


@pytest.mark.parametrize("kind", TYPES)
def test_bytes_are_read_as_text_by_every_type(parquet, config, kind):
    word = {"date": "2024-01-0%d", "vector": "%d 2", "number": "%d"}.get(kind, "word %d")
    texts = [word % (1 + row % 2) for row in range(60)]
    columns = {"x": pa.array(texts), "y": [row % 3 for row in range(60)]}
    of_text = prepare(config([f"x:{kind}"], ["y:number"]), parquet(columns, "text.parquet"), seed=0)
    columns["x"] = columns["x"].cast(pa.binary())
    of_bytes = prepare(config([f"x:{kind}"], ["y:number"]), parquet(columns, "bytes.parquet"), seed=0)
    assert plain(of_bytes) == plain(of_text)


@pytest.mark.parametrize("split", ["hash", "fixed", "stratify", "datetime"])
def test_bytes_that_are_no_text_are_reported(parquet, config, split):
    path = parquet({"c": pa.array([b"\xe9", b"a"] * 50), "n": [1, 2] * 50, "y": [0, 1] * 50})
    with pytest.raises(Mistakes, match=r"input_features\[0\]: column 'c' holds bytes that are no text in UTF-8"):
        prepare(config(["c:category"], ["y:number"]), path, seed=0)
    with pytest.raises(Mistakes, match=r"split\.column: column 'c' holds bytes that are no text in UTF-8"):
        prepare(config(["n:number"], ["y:number"], split={"type": split, "column": "c"}), path, seed=0)


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ([1.5, 2.5], "column 'i' holds numbers: an image is a path, a URI (s3://, gs://), or the bytes of a file."),
        (
            ["a.png", "iVBORw0KGgo" * 30],
            "column 'i' holds 'iVBORw0KGgoiVBORw0KGgoiVBORw0KGgoiVBORw0KGgoiVBORw0KGgoiVB… in row 2, which is no path: "
            "an image is a path, a URI (s3://, gs://), or the bytes of a file. (Row 1 is the first row of data.)",
        ),
    ],
)
def test_values_that_are_no_images_are_one_line(parquet, config, values, line):
    with pytest.raises(Mistakes) as caught:
        prepare(config(["i:image"], ["y:binary"]), parquet({"i": values, "y": ["a", "b"]}), seed=0)
    assert [(found.path, found.message) for found in caught.value.problems] == [("config.input_features[0]", line)]


def test_missing_cells_of_all_columns_are_one_line(text, config):
    """True if the reader of CSV makes a cell null or the feature: empty, and words such as NA, N/A, null, ? and -."""
    words = ["", "NA", "N/A", "null", "?", "-", "1"]
    lines = [f"{word},{word},{row % 2},0" for row, word in enumerate(words * 2)]
    path = text("\n".join(["n,c,y,split", *lines, "1,a,0,1", "?,a,1,2"]), "x.csv")
    data = prepare(config(["n:number", "c:category"], ["y:binary"], split={"type": "fixed"}), path, seed=0)
    data.finish()
    assert data.notices == ("missing cells in the training rows: 20 (n 12, c 8)",)
    again = prepare(config(["n:number", "c:category"], ["y:binary"], split={"type": "fixed"}), path, seed=0)
    assert (again.cache_hit, again.notices) == (True, data.notices)


def test_a_target_with_gaps_is_one_notice(parquet, columns, config):
    columns["y"] = [None if row % 50 == 0 else row % 2 == 0 for row in range(200)]
    path = parquet(columns)
    some = config(["n:number"], ["y:binary"])
    cold = prepare(some, path, seed=0)
    cold.finish()
    line = (
        f"missing cells in the training rows: {cold.statistics['n']['missing']} (n {cold.statistics['n']['missing']})"
    )
    assert cold.notices == ("column 'y': rows left out by drop_row: 4", line)
    assert cold.columns["y"].null_count == 4
    assert prepare(some, path, seed=0).notices == cold.notices


def test_parts_have_their_codes():
    assert (TRAIN, VALIDATION, TEST, UNSAMPLED) == (0, 1, 2, 3)
