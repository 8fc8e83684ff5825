"""Preprocessing from raw files to encoded columns, with and without the cache."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.data import source
from trainwright_trainer.data.prepared import TEST, TRAIN, UNSAMPLED, VALIDATION
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.data.split import random_parts
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.frames.pandas import PandasProcessor

MADE = datetime(2024, 1, 1)


def plain(prepared):
    """All data that training reads, as plain Python values."""
    return (
        prepared.splits.tolist(),
        {name: column.to_pylist() for name, column in prepared.columns.items()},
        json.dumps(prepared.statistics),
        prepared.notices,
    )


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


def test_a_warm_run_is_the_cold_run(parquet, columns, usual):
    path = parquet(columns)
    cold = prepare(usual(), path, seed=7)
    assert cold.finish() == ()
    warm = prepare(usual(), path, seed=7)
    assert (cold.cache_hit, warm.cache_hit) == (False, True)
    assert plain(cold) == plain(warm)
    assert (cold.content, cold.cache_key) == (warm.content, warm.cache_key)
    assert [column.type for column in cold.columns.values()] == [column.type for column in warm.columns.values()]


@pytest.mark.parametrize(
    "split",
    [
        {"type": "random"},
        {"type": "hash", "column": "g"},
        {"type": "fixed", "column": "part"},
        {"type": "stratify", "column": "y"},
        {"type": "datetime", "column": "made"},
    ],
    ids=lambda split: split["type"],
)
def test_a_warm_run_reads_no_raw_byte(parquet, columns, usual, split):
    columns |= {"part": [row % 3 for row in range(200)], "g": [f"group {row % 40}" for row in range(200)]}
    columns["made"] = [MADE + timedelta(hours=row * 77 % 200) for row in range(200)]
    path = Path(parquet(columns))
    config = usual(split=split)
    cold = prepare(config, str(path), seed=0)
    cold.finish()
    before = path.stat()
    with path.open("r+b") as file:  # the file keeps its identity, but its content becomes unreadable
        file.write(bytes(before.st_size))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    warm = prepare(config, str(path), seed=0)
    assert warm.cache_hit
    assert plain(cold) == plain(warm)


def test_the_raw_file_is_opened_in_a_cold_run_only(text, config, monkeypatch):
    path = text("n,y\n" + "".join(f"{row},{row % 2}\n" for row in range(100)), "data.csv")
    opened = []
    plainly = Path.open

    def counting(self, *args, **options):
        opened.append(self.name)
        return plainly(self, *args, **options)

    monkeypatch.setattr(Path, "open", counting)
    some = config(["n:number"], ["y:binary"])
    prepare(some, path, seed=0).finish()
    assert opened.count("data.csv") > 0
    opened.clear()
    assert prepare(some, path, seed=0).cache_hit
    assert "data.csv" not in opened


def test_a_touched_file_is_read_and_its_columns_are_still_known(parquet, columns, usual):
    path = parquet(columns)
    prepare(usual(), path, seed=0).finish()
    os.utime(path, ns=(0, 0))
    assert prepare(usual(), path, seed=0).cache_hit


def test_only_what_changed_is_computed_again(parquet, columns, usual, config, monkeypatch):
    path = parquet(columns)
    prepare(usual(), path, seed=0).finish()
    read = []
    blocks = source.blocks

    def watched(files, wanted, coded, block_rows):
        read.extend(column for _, column in wanted)
        return blocks(files, wanted, coded, block_rows)

    monkeypatch.setattr(source, "blocks", watched)
    inputs = [("n:number", {"normalization": "minmax"}), "c:category", "b:binary", "d:date", "v:vector"]
    changed = prepare(config(inputs, ["y:binary"]), path, seed=0)
    changed.finish()
    assert read == ["n"]
    assert not changed.cache_hit
    fresh = prepare(config(inputs, ["y:binary"]), path, seed=0, cache_dir=f"{path}.other")
    fresh.finish()
    assert plain(changed) == plain(fresh)


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


def test_split_and_sampling_act_only_through_the_statistics(parquet, columns, usual, tmp_path):
    path = parquet(columns)
    prepare(usual(), path, seed=0).finish()
    entries = {kind: entries_of(tmp_path, kind) for kind in ("statistics", "features")}
    prepare(usual(sample_size=1000), path, seed=0).finish()
    assert len(entries_of(tmp_path, "statistics")) == 2 * len(entries["statistics"])
    assert entries_of(tmp_path, "features") == entries["features"]


def entries_of(folder, kind):
    return sorted((path.name, path.stat().st_ino) for path in (folder / ".trainwright_cache" / kind).iterdir())


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


def test_sampling_leaves_rows_out_of_every_part(parquet, columns, usual):
    path = parquet(columns)
    ratio = prepare(usual(sample_ratio=0.5), path, seed=0)
    size = prepare(usual(sample_size=50), path, seed=0)
    whole = prepare(usual(), path, seed=0)
    for found in (ratio, size, whole):
        found.finish()
    assert 60 < np.count_nonzero(ratio.splits != UNSAMPLED) < 140
    assert np.count_nonzero(size.splits != UNSAMPLED) == 50
    kept = size.splits != UNSAMPLED
    assert size.splits[kept].tolist() == whole.splits[kept].tolist()
    assert size.statistics["n"]["rows"] == np.count_nonzero(size.splits == TRAIN)


def test_a_fixed_split_is_that_of_the_column(parquet, columns, usual):
    parts = [("train", "validation", "test")[row % 3] for row in range(200)]
    found = prepare(usual(split={"type": "fixed", "column": "part"}), parquet({**columns, "part": parts}), seed=0)
    found.finish()
    assert found.splits.tolist() == [row % 3 for row in range(200)]


def test_a_hash_split_keeps_equal_values_together(parquet, columns, usual):
    groups = [f"group {row % 40}" for row in range(200)]
    found = prepare(usual(split={"type": "hash", "column": "g"}), parquet({**columns, "g": groups}), seed=0)
    found.finish()
    assert all(
        len({part for part, g in zip(found.splits, groups, strict=True) if g == one}) == 1 for one in set(groups)
    )


def test_a_stratified_split_divides_each_class(parquet, columns, usual):
    groups = [None if row % 10 == 0 else "even" if row % 2 == 0 else "odd" for row in range(200)]
    found = prepare(usual(split={"type": "stratify", "column": "g"}), parquet({**columns, "g": groups}), seed=0)
    found.finish()
    for group, sizes in (("odd", [70, 10, 20]), ("even", [56, 8, 16]), (None, [14, 2, 4])):
        parts = [part for part, one in zip(found.splits.tolist(), groups, strict=True) if one == group]
        assert [parts.count(part) for part in range(3)] == sizes


def test_a_stratified_split_of_a_sample_divides_the_sample(parquet, columns, usual):
    split = {"type": "stratify", "column": "y"}
    found = prepare(usual(split=split, sample_size=100), parquet(columns), seed=0)
    found.finish()
    for label in (True, False):
        parts = [part for part, y in zip(found.splits.tolist(), columns["y"], strict=True) if y is label]
        rows = sum(part != UNSAMPLED for part in parts)
        assert [abs(parts.count(part) - share * rows) < 1 for part, share in enumerate((0.7, 0.1, 0.2))] == [True] * 3


@pytest.mark.parametrize("as_text", [True, False])
def test_a_datetime_split_trains_with_the_oldest_rows(parquet, columns, usual, as_text):
    times = [MADE + timedelta(hours=row * 77 % 200) for row in range(200)]
    made = [time.strftime("%d/%m/%Y %H") for time in times] if as_text else times
    split = {"type": "datetime", "column": "made"} | ({"datetime_format": "%d/%m/%Y %H"} if as_text else {})
    found = prepare(usual(split=split), parquet({**columns, "made": made}), seed=0)
    found.finish()
    order = sorted(range(200), key=lambda row: times[row])
    assert found.splits[order].tolist() == [0] * 140 + [1] * 20 + [2] * 40


def test_a_split_is_the_same_from_text_files(parquet, text, columns, usual):
    """The readers of text files give the column of the split as a dictionary, unless it holds dates."""
    made = [MADE + timedelta(hours=row * 77 % 200) for row in range(200)]
    rows = "".join(
        f"{n},{c},{b},{d},{v},{y},{m}\n"
        for n, c, b, d, v, y, m in zip(
            *([str(value if value is not None else "") for value in columns[name]] for name in "ncbd"),
            ["1 2"] * 200,
            columns["y"],
            made,
            strict=True,
        )
    )
    path = text(f"n,c,b,d,v,y,made\n{rows}", "data.csv")
    for split in ({"type": "stratify", "column": "c"}, {"type": "datetime", "column": "made"}):
        of_text = prepare(usual(split=split), path, seed=0)
        of_parquet = prepare(usual(split=split), parquet({**columns, "made": made}), seed=0)
        assert of_text.finish() == of_parquet.finish() == ()
        assert of_text.splits.tolist() == of_parquet.splits.tolist()


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


@pytest.mark.parametrize(
    ("table", "preprocessing", "line"),
    [
        ({"n": [], "y": []}, {}, r"dataset: 'data\.parquet' holds no rows\."),
        ({"n": [1, 2], "y": [0, 1]}, {}, r"config\.preprocessing\.split: the \w+ part is empty: none of the 2 rows"),
        (
            {"n": list(range(99)), "y": [0, 1, 0] * 33},
            {"split": {"type": "random", "probabilities": [0.5, 0.4999, 0.0001]}},
            r"config\.preprocessing\.split: the test part is empty",
        ),
        (
            {"n": list(range(9)), "y": [None, 1, 0] * 3, "split": [0, 1, 2] * 3},
            {"split": {"type": "fixed"}},
            r"config\.output_features\[0\]: column 'y' has no value in any training row",
        ),
        (
            {"n": list(range(9)), "y": [0, 1, None] * 3, "split": [0, 0, 2, 1, 0, 2, 0, 1, 2]},
            {"split": {"type": "fixed"}},
            r"the test part has no row left: all 3 of its rows are dropped",
        ),
        (
            {"n": [1, 2, 3], "y": [0, 1, 0], "split": [0, 1, 7]},
            {"split": {"type": "fixed"}},
            r"config\.preprocessing\.split\.column: column 'split' holds 7 in row 3; a part is 0, 1, 2 or train",
        ),
        (
            {"n": [1, 2, 3], "y": [0, 1, 0], "parts": [0, 1, 2]},
            {"split": {"type": "fixed", "column": "part"}},
            r"config\.preprocessing\.split\.column: 'part' is not in data\.parquet\. Nearest: 'parts'\.",
        ),
        (
            {"n": [1, 2], "y": [0, 1], "split": [[0], [1]]},
            {"split": {"type": "fixed"}},
            r"config\.preprocessing\.split\.column: column 'split' holds lists",
        ),
        (
            {"n": list(range(4)), "y": [0, 1, 0, 1], "g": [*"abcd"]},
            {"split": {"type": "stratify", "column": "g"}},
            r"config\.preprocessing\.split: the validation part is empty: none of the 4 rows",
        ),
        (
            {"n": list(range(9)), "y": [0, 1, 0] * 3, "t": ["2024-01-01"] * 5 + ["soon"] * 4},
            {"split": {"type": "datetime", "column": "t"}},
            r"config\.preprocessing\.split\.column: column 't' holds 'soon' in row 6, which is no date; a datetime",
        ),
        (
            {"n": list(range(9)), "y": [0, 1, 0] * 3, "t": ["2024-01-01"] * 5 + [None] * 4},
            {"split": {"type": "datetime", "column": "t"}},
            r"config\.preprocessing\.split\.column: column 't' holds None in row 6, which is no date",
        ),
        (
            {"n": list(range(9)), "y": [0, 1, 0] * 3},
            {"split": {"type": "datetime", "column": "n"}},
            r"config\.preprocessing\.split\.column: column 'n' holds '0' in row 1, which is no date",
        ),
        ({"n": [1], "y": [0]}, {"global_max_sequence_length": 9}, "global_max_sequence_length: not built yet"),
    ],
)
def test_what_cannot_be_split_is_one_line(parquet, config, table, preprocessing, line):
    with pytest.raises(Mistakes, match=line):
        prepare(config(["n:number"], ["y:binary"], **preprocessing), parquet(table), seed=0)


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


@pytest.mark.parametrize("kind", ["hash", "fixed", "stratify", "datetime"])
def test_a_split_reads_bytes_as_text(parquet, config, kind):
    words = {"fixed": ["train", "validation", "test"], "datetime": ["2024-01-01", "2024-01-02", "2024-01-03"]}
    texts = [words.get(kind, ["a", "b", "c", "d"])[row % 3] for row in range(60)]
    columns = {"x": pa.array(texts), "n": list(range(60)), "y": [row % 3 for row in range(60)]}
    shares = {"probabilities": [0.7, 0.0, 0.3]} if kind == "hash" else {}
    settings = config(["n:number"], ["y:number"], split={"type": kind, "column": "x", **shares})
    of_text = prepare(settings, parquet(columns, "text.parquet"), seed=0)
    columns["x"] = columns["x"].cast(pa.binary())
    of_bytes = prepare(settings, parquet(columns, "bytes.parquet"), seed=0)
    assert of_bytes.splits.tolist() == of_text.splits.tolist()


@pytest.mark.parametrize("split", ["hash", "fixed", "stratify", "datetime"])
def test_bytes_that_are_no_text_are_reported(parquet, config, split):
    path = parquet({"c": pa.array([b"\xe9", b"a"] * 50), "n": [1, 2] * 50, "y": [0, 1] * 50})
    with pytest.raises(Mistakes, match=r"input_features\[0\]: column 'c' holds bytes that are no text in UTF-8"):
        prepare(config(["c:category"], ["y:number"]), path, seed=0)
    with pytest.raises(Mistakes, match=r"split\.column: column 'c' holds bytes that are no text in UTF-8"):
        prepare(config(["n:number"], ["y:number"], split={"type": split, "column": "c"}), path, seed=0)


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


def test_a_damaged_entry_is_made_again_with_a_notice(parquet, columns, usual, tmp_path):
    path = parquet(columns)
    cold = prepare(usual(), path, seed=0)
    cold.finish()
    victim = next((tmp_path / ".trainwright_cache/features").iterdir())
    victim.write_bytes(victim.read_bytes()[:100])
    mended = prepare(usual(), path, seed=0)
    mended.finish()
    assert not mended.cache_hit
    assert any("is damaged; it is made again" in notice for notice in mended.notices)
    assert plain(mended)[:3] == plain(cold)[:3]
    assert prepare(usual(), path, seed=0).cache_hit


def test_rows_that_nobody_counted_are_counted_again(parquet, columns, usual, tmp_path):
    path = parquet(columns)
    cold = prepare(usual(), path, seed=0)
    cold.finish()
    shutil.rmtree(tmp_path / ".trainwright_cache/rows")
    found = prepare(usual(), path, seed=0)
    found.finish()
    assert plain(found) == plain(cold)
    assert prepare(usual(), path, seed=0).cache_hit


def test_where_the_cache_lies(parquet, columns, usual, tmp_path):
    prepare(usual(), parquet(columns, "one/data.parquet"), seed=0).finish()
    assert (tmp_path / "one/.trainwright_cache/features").is_dir()
    parquet(columns, "two/data/a.parquet")
    prepare(usual(), str(tmp_path / "two/data"), seed=0).finish()
    assert (tmp_path / "two/.trainwright_cache/features").is_dir()
    prepare(usual(), str(tmp_path / "two/data"), seed=0, cache_dir=str(tmp_path / "mine")).finish()
    assert (tmp_path / "mine/features").is_dir()


def test_a_cache_that_cannot_be_written_is_reported_before_anything_is_read(parquet, columns, usual, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentFailure, match=r"backend\.cache_dir"):
        prepare(usual(), parquet(columns), seed=0, cache_dir=str(tmp_path / "file/cache"))


PROCESS = """
import json, os, signal, sys
from trainwright_api.config import ModelConfig, resolve
from trainwright_trainer.data.preprocess import prepare

path, config, dies = sys.argv[1], resolve(ModelConfig.model_validate_json(sys.argv[2])), sys.argv[3] == "dies"
rename = os.replace

def dying(source, target):
    if str(target).endswith(".parquet"):
        os.kill(os.getpid(), signal.SIGKILL)
    rename(source, target)

if dies:
    os.replace = dying
print("ready", flush=True)
sys.stdin.readline()
found = prepare(config, path, seed=0)
columns = {name: column.to_pylist() for name, column in found.columns.items()}
print(json.dumps([found.cache_key, found.splits.tolist(), columns, found.statistics, found.finish()]))
"""


def started(config, path, how="lives"):
    """A separate process that waits for a line on stdin before it calls `prepare`."""
    command = [sys.executable, "-c", PROCESS, path, config.model_dump_json(), how]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def test_processes_at_once_do_no_harm(parquet, columns, usual):
    path = parquet(columns)
    processes = [started(usual(), path) for _ in range(3)]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = [json.loads(process.communicate()[0]) for process in processes]
    assert all(answer == answers[0] for answer in answers)
    assert answers[0][-1] == []
    assert prepare(usual(), path, seed=0).cache_hit


def test_a_killed_writer_leaves_nothing_that_is_used(parquet, columns, usual, tmp_path):
    path = parquet(columns)
    process = started(usual(), path, "dies")
    process.communicate("go\n")
    assert process.returncode == -signal.SIGKILL
    assert [name[-4:] for name, _ in entries_of(tmp_path, "features")] == [".tmp"]
    found = prepare(usual(), path, seed=0)
    fresh = prepare(usual(), path, seed=0, cache_dir=str(tmp_path / "fresh"))
    for one in (found, fresh):
        one.finish()
    assert plain(found) == plain(fresh)


def test_parts_have_their_codes():
    assert (TRAIN, VALIDATION, TEST, UNSAMPLED) == (0, 1, 2, 3)


def test_a_failed_write_is_a_notice_and_not_a_failed_run(parquet, columns, usual, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    found = prepare(usual(), parquet(columns), seed=0)
    (notice,) = found.finish()
    assert "could not be written (" in notice
    assert ": the disk is full)" in notice
    assert found.rows == 200
