"""The copies of training rows where classes are balanced: the published vectors, exact ratios, and mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_api.problems import Mistakes
from trainwright_trainer.data.balance import copies_of
from trainwright_trainer.data.prepared import TRAIN
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.decoders.affine_output import affine_output_of

VECTORS = json.loads(Path(__file__).with_name("vectors.json").read_text(encoding="utf-8"))


@pytest.fixture
def job(parquet, config):
    """Prepares 400 rows, a quarter of them true, of which 8 have no input and are dropped."""
    table = {"n": [None if row % 50 == 7 else row for row in range(400)], "y": [row % 4 == 0 for row in range(400)]}
    path = parquet(table)

    def run(seed=0, **preprocessing):
        inputs = [("n:number", {"missing_value_strategy": "drop_row"})]
        return prepare(config(inputs, ["y:binary"], **preprocessing), path, seed=seed)

    return run


@pytest.mark.parametrize("case", VECTORS["balance"])
def test_copies_are_as_published(parquet, config, case):
    rows = len(case["truths"])
    split = [0] * rows + [1, 1, 2, 2]
    table = {"n": list(range(len(split))), "y": [*case["truths"], True, False, True, False], "split": split}
    option = {"oversample_minority": case["over"]} if case["under"] is None else {"undersample_majority": case["under"]}
    found = prepare(
        config(["n:number"], ["y:binary"], split={"type": "fixed"}, **option), parquet(table), seed=case["seed"]
    )
    assert found.finish() == ()
    assert found.copies[:rows].tolist() == case["copies"]
    assert found.copies[rows:].tolist() == [0] * 4


@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 60), st.integers(1, 300))
def test_copies_are_exact_and_even(seed, few, many, wanted):
    labels = np.random.default_rng(seed).permutation([0] * few + [1] * many + [-1] * 5).astype(np.int8)
    (copies,) = copies_of(seed, [labels], [few, many], [wanted, many])
    assert copies[labels == 0].sum() == wanted
    assert np.ptp(copies[labels == 0]) <= 1
    assert copies[labels == 1].tolist() == [1] * many
    assert copies[labels == -1].tolist() == [0] * 5
    cut = seed % len(labels)
    blocks = copies_of(seed, [labels[:cut], labels[cut:]], [few, many], [wanted, many])
    assert np.concatenate(list(blocks)).tolist() == copies.tolist()


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ({"oversample_minority": 1.0}, lambda rows: (rows[0], rows[0])),
        ({"oversample_minority": 0.5}, lambda rows: (rows[0], int(rows[0] / 2 + 0.5))),
        ({"undersample_majority": 1.0}, lambda rows: (rows[1], rows[1])),
        ({"undersample_majority": 0.5}, lambda rows: (rows[1] * 2, rows[1])),
        ({"undersample_majority": 10}, lambda rows: (rows[1] // 10, rows[1])),
    ],
)
def test_the_classes_have_the_ratio_and_only_in_training(job, option, expected):
    plain, found = job(), job(**option)
    labels = found.columns["y"].to_numpy() > 0.5
    rows = [plain.rows_of(part) for part in range(3)]
    before = [int(np.count_nonzero(labels[rows[TRAIN]] == flag)) for flag in (False, True)]
    sample = found.rows_of(TRAIN)
    after = tuple(int(np.count_nonzero(labels[sample] == flag)) for flag in (False, True))
    assert after == expected(before)
    assert set(sample.tolist()) <= set(rows[TRAIN].tolist())
    assert [found.rows_of(part).tolist() for part in (1, 2)] == [rows[1].tolist(), rows[2].tolist()]
    assert plain.finish() == found.finish() == ()


def test_statistics_count_each_row_once_and_the_start_is_that_of_the_sample(job, config):
    plain, found = job(), job(undersample_majority=1.0)
    statistics = dict(found.statistics["y"])
    sampled = statistics.pop("sampled")
    assert statistics == plain.statistics["y"]
    assert found.statistics["n"] == plain.statistics["n"]
    assert sampled[0] == sampled[1] == len(found.rows_of(TRAIN)) / 2
    (feature,) = config(["n:number"], ["y:binary"]).output_features
    assert affine_output_of(feature, found.statistics["y"]).shift.tolist() == [0.0]
    assert affine_output_of(feature, plain.statistics["y"]).shift.item() < -0.5
    assert plain.finish() == found.finish() == ()


def test_a_notice_says_what_an_epoch_has(job):
    found = job(oversample_minority=1.0)
    found.finish()
    counts = found.statistics["y"]["sampled"]
    rows = np.unique(found.rows_of(TRAIN)[found.columns["y"].to_numpy()[found.rows_of(TRAIN)] > 0.5])
    assert found.notices[-1] == (
        f"config.preprocessing.oversample_minority: an epoch has {counts[1]} rows with y 'true', "
        f"from {len(rows)} training rows, and {counts[0]} of the other class"
    )


def test_another_seed_takes_other_rows_and_a_second_run_the_same(job):
    split = {"type": "hash", "column": "n"}  # the seed does not change it
    runs = [job(seed, undersample_majority=1.0, split=split) for seed in (0, 0, 1)]
    for run in runs:
        run.finish()
    samples = [run.rows_of(TRAIN).tolist() for run in runs]
    assert samples[0] == samples[1] != samples[2]


@pytest.mark.parametrize(
    ("option", "line"),
    [
        ({"oversample_minority": 0.2}, r"oversample_minority: 0\.2 changes nothing: the training rows have \d+ to \d+"),
        ({"undersample_majority": 0.2}, r"undersample_majority: 0\.2 changes nothing: .* Give a larger one, or remove"),
    ],
)
def test_a_ratio_that_changes_nothing_is_a_mistake(job, option, line):
    with pytest.raises(Mistakes, match=line):
        job(**option)


def test_a_ratio_of_0_is_off(job):
    found = job(oversample_minority=0.0)
    found.finish()
    assert found.copies is None


def test_a_class_without_valid_rows_is_a_mistake(parquet, config):
    table = {"n": [None, 1, 2, 3, 4], "y": [1, 0, 0, 1, 0], "split": [0, 0, 0, 1, 2]}
    inputs = [("n:number", {"missing_value_strategy": "drop_row"})]
    job = config(inputs, ["y:binary"], split={"type": "fixed"}, oversample_minority=1.0)
    with pytest.raises(Mistakes, match="oversample_minority: no training row of one of the two classes is left"):
        prepare(job, parquet(table), seed=0)
