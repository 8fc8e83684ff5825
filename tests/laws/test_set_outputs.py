"""The laws of set outputs and of bags: one curve on any number of workers, and from the file to predictions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from trainwright_trainer import evaluate, predict, train

from .parity_job import Case
from .test_combiners import FIXED, assert_one_curve, assert_saved_model_predicts_the_same

WEIGHTS = {"type": "sigmoid_cross_entropy", "class_weights": [1.0, 2.0, 0.5, 1.0]}
CASE = Case(FIXED, words={"type": "set", "loss": WEIGHTS})
BAGS = replace(CASE, tags={"type": "bag", "encoder": {"type": "embed", "embedding_size": 3}})
ROWS = 300


def test_two_workers_have_the_curve_of_one_process() -> None:
    assert_one_curve([CASE, BAGS], 2)


def test_a_saved_model_predicts_the_same_to_the_bit(tmp_path: Path) -> None:
    assert_saved_model_predicts_the_same(replace(BAGS, trainer={**FIXED, "train_steps": 5}), tmp_path)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Dishes with their ingredients, in which some occur several times, and the labels that follow from them."""
    draws = np.random.default_rng(0)
    rows = [list(draws.choice(["egg", "milk", "ham", "oat", "fig"], draws.integers(1, 6))) for _ in range(ROWS)]
    labels = [
        [
            *(["vegan"] if not {"egg", "milk", "ham"} & set(row) else []),
            *(["heavy"] if row.count("milk") + row.count("ham") > 1 else []),
        ]
        for row in rows
    ]
    return pd.DataFrame({"parts": rows, "labels": labels})


def job(folder: Path) -> dict[str, Any]:
    parts = {"name": "parts", "type": "bag", "encoder": {"type": "embed", "num_fc_layers": 1, "output_size": 16}}
    return {
        "dataset": str(folder / "rows.parquet"),
        "config": {
            "input_features": [parts],
            "output_features": [{"name": "labels", "type": "set"}],
            "trainer": {"epochs": 40, "batch_size": 32, "learning_rate": 0.02, "precision": "float64"},
        },
    }


def test_the_saved_model_predicts_as_the_trained_one(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.to_parquet(tmp_path / "rows.parquet")
    trained = train(job(tmp_path), output=tmp_path / "out", quiet=True)
    assert trained.test["labels"]["jaccard"] > 0.9
    scores = evaluate(job(tmp_path), model=tmp_path / "out", output=tmp_path / "scores", quiet=True)
    assert scores["labels"] == pytest.approx(trained.test["labels"], abs=1e-12)
    assert "Tokens found" in (tmp_path / "out" / "report.html").read_text()


def test_the_predictions_are_sets(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.to_parquet(tmp_path / "rows.parquet")
    train(job(tmp_path), output=tmp_path / "out", quiet=True)
    found = predict(dataset=frame, model=tmp_path / "out", output=tmp_path / "whole.csv", quiet=True)
    sets, shares = found["labels_predictions"].tolist(), found["labels_probabilities"].tolist()
    assert np.mean([set(row) == set(true) for row, true in zip(sets, frame["labels"], strict=True)]) > 0.9
    assert [len(row) for row in sets] == [len(row) for row in shares]
    assert all(share >= 0.5 for row in shares for share in row)
    some = predict(dataset=frame[100:117], model=tmp_path / "out", output=tmp_path / "some.parquet", quiet=True)
    assert list(map(list, some["labels_predictions"])) == list(map(list, sets[100:117]))
    text = pd.read_csv(tmp_path / "whole.csv", keep_default_na=False)
    assert text["labels_predictions"].tolist() == [" ".join(row) for row in sets]
