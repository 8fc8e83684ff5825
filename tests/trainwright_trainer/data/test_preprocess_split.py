"""Preprocessing with each split and with sampling: which rows each part has."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pyarrow as pa
import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.data.prepared import TRAIN, UNSAMPLED
from trainwright_trainer.data.preprocess import prepare

from .prepared_values import MADE, entries_of


def test_split_and_sampling_act_only_through_the_statistics(parquet, columns, usual, tmp_path):
    path = parquet(columns)
    prepare(usual(), path, seed=0).finish()
    entries = {kind: entries_of(tmp_path, kind) for kind in ("statistics", "features")}
    prepare(usual(sample_size=1000), path, seed=0).finish()
    assert len(entries_of(tmp_path, "statistics")) == 2 * len(entries["statistics"])
    assert entries_of(tmp_path, "features") == entries["features"]


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
