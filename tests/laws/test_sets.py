"""A model with a ragged column: from the file to predictions, through the cache and the model folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from trainwright_trainer import evaluate, predict, train

ROWS = 400


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    draws = np.random.default_rng(0)
    tags = [list(draws.choice(list("abcdefgh"), draws.integers(0, 5), replace=False)) for _ in range(ROWS)]
    late = ["yes" if "a" in row or "b" in row else "no" for row in tags]
    return pd.DataFrame({"tags": tags, "size": draws.normal(size=ROWS), "late": late})


def job(folder: Path) -> dict[str, Any]:
    return {
        "dataset": str(folder / "rows.parquet"),
        "config": {
            "input_features": [{"name": "tags", "type": "set"}, {"name": "size", "type": "number"}],
            "output_features": [{"name": "late", "type": "binary"}],
            "trainer": {"epochs": 30, "batch_size": 32, "learning_rate": 0.05, "precision": "float64"},
        },
    }


def test_the_saved_model_predicts_as_the_trained_one(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.to_parquet(tmp_path / "rows.parquet")
    first = train(job(tmp_path), output=tmp_path / "one", quiet=True)
    second = train(job(tmp_path), output=tmp_path / "two", quiet=True)  # reads the cache
    assert first.test == second.test
    assert first.test["late"]["accuracy"] > 0.95
    weights = [(tmp_path / name / "model" / "weights.safetensors").read_bytes() for name in ("one", "two")]
    assert weights[0] == weights[1]
    scores = evaluate(job(tmp_path), model=tmp_path / "one", output=tmp_path / "scores", quiet=True)
    assert scores["late"] == pytest.approx(first.test["late"], abs=1e-12)
    whole = predict(dataset=frame, model=tmp_path / "one", output=tmp_path / "whole.parquet", quiet=True)
    texts = frame.assign(tags=frame["tags"].map(" ".join))[100:117]  # as text, and beside other rows
    some = predict(dataset=texts, model=tmp_path / "one", output=tmp_path / "some.parquet", quiet=True)
    expected = whole["late_probability"].to_numpy()[100:117]
    assert np.abs(some["late_probability"].to_numpy() - expected).max() < 1e-12


def test_the_cut_into_passes_changes_no_prediction(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame.to_parquet(tmp_path / "rows.parquet")
    model = tmp_path / "out"
    train(job(tmp_path), output=model, quiet=True)
    whole = predict(dataset=frame, model=model, output=tmp_path / "a.parquet", keep=["size"], quiet=True)
    scores = evaluate(job(tmp_path), model=model, output=tmp_path / "scores", quiet=True)
    monkeypatch.setattr("trainwright_trainer.loader.by_length.PASS_STEPS", 8)
    cut = predict(dataset=frame, model=model, output=tmp_path / "b.parquet", keep=["size"], quiet=True)
    assert cut["size"].tolist() == whole["size"].tolist() == frame["size"].tolist()
    assert np.abs(cut["late_probability"] - whole["late_probability"]).max() < 1e-12
    again = evaluate(job(tmp_path), model=model, output=tmp_path / "again", quiet=True)
    assert again["late"] == pytest.approx(scores["late"], abs=1e-12)
