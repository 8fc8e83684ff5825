"""The laws of outputs that are sequences: one curve on any number of workers, resume to the bit, and predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from tests.ranks import on_ranks

from trainwright_trainer import evaluate, predict, train
from trainwright_trainer.layers.steps import Steps
from trainwright_trainer.loader.encoded_rows import EncodedRows

from .parity_job import Case, interrupted, rows_of, trained
from .test_combiners import FIXED, KEPT, assert_one_curve, assert_saved_model_predicts_the_same, model_of

WEIGHTED = {"type": "sequence_softmax_cross_entropy", "class_weights": [1.0, 2.0, 0.5, 1.0]}
ATTENTION = {"use_attention": True, "attention_embedding_size": 4, "attention_num_heads": 2}
TAGGER = {"type": "text", "decoder": {"type": "tagger", **ATTENTION}, "loss": WEIGHTED, "dependencies": ["delay"]}
GENERATOR = {"type": "sequence", "decoder": {"type": "generator", "cell_type": "lstm", "num_layers": 2}}
CASES: Mapping[str, Case] = {
    "tagger": Case(FIXED, {"type": "sequence_concat"}, tags=KEPT, words=TAGGER),
    "generator": Case(FIXED, words=GENERATOR),
}


def test_two_workers_have_the_curve_of_one_process() -> None:
    """Passes of 22 rows and slices of 33 have other numbers of tokens than the whole batch has."""
    assert_one_curve(list(CASES.values()), 2)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["fsdp", "horovod"])
def test_every_strategy_has_one_curve_on_three_workers(engine: str) -> None:
    whole = [replace(case, trainer={**FIXED, "batch_size": 66}, engine=engine) for case in CASES.values()]
    assert_one_curve(whole, 3)


def test_the_loss_is_a_mean_over_tokens() -> None:
    case = replace(
        CASES["generator"], trainer={**FIXED, "train_steps": 1, "batch_size": 397, "effective_batch_size": 397}
    )
    batch = rows_of(case, "train").part(0, 397)
    model = model_of(case)
    tokens = model.tokens(batch)["words"]
    assert tokens == int(batch.ragged[1].bounds[-1]) + 397
    losses = model.losses(model(batch), batch)
    means = {name: one.sum() / (tokens if name == "words" else 397) for name, one in losses.items()}
    assert trained(case).losses[0] == pytest.approx(float(model.total(means).detach()), rel=1e-12)


@pytest.mark.parametrize("word", CASES)
def test_a_resumed_run_has_the_same_weights_to_the_bit(word: str) -> None:
    case = replace(CASES[word], trainer={**FIXED, "steps_per_checkpoint": 5}, stop_at=13)
    for whole, resumed, _ in on_ranks(2, interrupted, case):
        for name, weight in whole.weights.items():
            assert np.array_equal(resumed.weights[name], weight), name


@pytest.mark.parametrize("word", CASES)
def test_a_saved_model_predicts_the_same_to_the_bit(word: str, tmp_path: Path) -> None:
    assert_saved_model_predicts_the_same(replace(CASES[word], trainer={**FIXED, "train_steps": 5}), tmp_path)


@pytest.mark.parametrize("word", CASES)
def test_a_row_does_not_depend_on_the_other_rows(word: str) -> None:
    model, rows = model_of(CASES[word]).eval(), rows_of(CASES[word], "test")
    with torch.inference_mode():
        whole = model.predict(rows.part(0, len(rows)))["words"]
        for at in (0, 7, 20):
            part = slice(at, at + 1)
            alone = EncodedRows(rows.floats[part], rows.ints[part], rows.rows[part], (rows.ragged[0][part],))
            some = model.predict(alone.part(0, 1))["words"]  # without the targets
            assert isinstance(some, Steps)
            assert isinstance(whole, Steps)
            length = int(whole.lengths[at])
            assert int(some.lengths[0]) == length
            torch.testing.assert_close(some.values[0, :length], whole.values[at, :length], rtol=1e-9, atol=1e-9)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    draws = np.random.default_rng(0)
    rows = [draws.choice(list("abcde"), draws.integers(1, 6)).tolist() for _ in range(300)]
    tags = [["vowel" if letter in "ae" else "consonant" for letter in row] for row in rows]
    first = [[row[0]] * 2 for row in rows]
    return pd.DataFrame({"word": map(" ".join, rows), "tags": map(" ".join, tags), "twice": map(" ".join, first)})


def job(folder: Path) -> dict[str, Any]:
    encoder = {"type": "rnn", "cell_type": "gru", "state_size": 16, "reduce_output": None}
    return {
        "dataset": str(folder / "rows.parquet"),
        "config": {
            "input_features": [{"name": "word", "type": "sequence", "encoder": encoder}],
            "combiner": {"type": "sequence_concat"},
            "output_features": [
                {"name": "tags", "type": "sequence", "decoder": {"type": "tagger"}},
                {"name": "twice", "type": "text", "reduce_input": "last", "dependencies": ["tags"]},
            ],
            "trainer": {"epochs": 25, "batch_size": 32, "learning_rate": 0.02},
        },
    }


def test_from_the_file_to_the_predictions(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.to_parquet(tmp_path / "rows.parquet")
    run = train(job(tmp_path), output=tmp_path / "out", quiet=True)
    assert run.test["tags"]["token_accuracy"] > 0.95
    assert run.test["twice"]["token_accuracy"] > 0.7
    scores = evaluate(job(tmp_path), model=tmp_path / "out", output=tmp_path / "scores", quiet=True)
    for name in ("tags", "twice"):
        assert scores[name] == pytest.approx(run.test[name], rel=1e-5)
    found = predict(dataset=frame[["word"]], model=tmp_path / "out", output=tmp_path / "all.csv", quiet=True).to_dict(
        "list"
    )
    right = [" ".join(row) == true for row, true in zip(found["tags_predictions"], frame["tags"], strict=True)]
    assert np.mean(right) > 0.9
    assert [len(row) for row in found["tags_predictions"]] == [len(row.split()) for row in frame["word"]]
    assert found["tags_probability"][0] == pytest.approx(np.prod(found["tags_probabilities"][0]))
    text = pd.read_csv(tmp_path / "all.csv", keep_default_na=False)
    assert text["twice_predictions"].tolist() == [" ".join(row) for row in found["twice_predictions"]]
