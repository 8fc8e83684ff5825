"""The laws of embeddings from a file: they are initial values, a saved model needs no file, a mistake is one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from safetensors.torch import load_file

from trainwright_api.problems import Mistakes
from trainwright_trainer import predict, train

WORDS = ["a", "b", "c"]
FEATURES = [("text", "words", {"type": "embed"}), ("set", "words", {}), ("bag", "words", {}), ("category", "one", {})]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    draws = np.random.default_rng(0)
    rows = [draws.choice([*WORDS, "rare"], 4).tolist() for _ in range(120)]
    late = ["yes" if row[0] == "a" else "no" for row in rows]
    columns = {"words": map(" ".join, rows), "one": [row[0] for row in rows], "late": late}
    pd.DataFrame(columns).to_parquet(tmp_path / "rows.parquet")
    (tmp_path / "vectors.txt").write_text("".join(f"{word} {at}.5 -1\n" for at, word in enumerate(WORDS)))
    return tmp_path


def job(home: Path, kind: str, column: str, **encoder: Any) -> dict[str, Any]:
    own = {"embedding_size": 2, "pretrained_embeddings": str(home / "vectors.txt"), **encoder}
    return {
        "dataset": str(home / "rows.parquet"),
        "config": {
            "input_features": [{"name": column, "type": kind, "encoder": own}],
            "output_features": [{"name": "late", "type": "binary"}],
            "trainer": {"epochs": 1, "batch_size": 16},
        },
    }


@pytest.mark.parametrize(("kind", "column", "own"), FEATURES)
def test_frozen_vectors_are_those_of_the_file_and_a_saved_model_needs_none(
    kind: str, column: str, own: dict[str, Any], home: Path
) -> None:
    result = train(job(home, kind, column, embeddings_trainable=False, **own), output=home / "out", quiet=True)
    (home / "vectors.txt").unlink()
    (table,) = (
        value for name, value in load_file(home / "out/model/weights.safetensors").items() if "table.weight" in name
    )
    found = {tuple(row) for row in table.tolist()}
    assert {(at + 0.5, -1.0) for at in range(3)} <= found
    assert len(found) == 5  # the rare word and that for unknown ones are near the mean
    frame = pd.read_parquet(home / "rows.parquet")
    assert len(predict(dataset=frame, model=home / "out", output=home / "p.csv", quiet=True)) == 120
    assert result.outcome.kind == "done"


@pytest.mark.parametrize(
    ("own", "line"),
    [
        ({"embedding_size": 3}, r"vectors.txt' has vectors of 2 numbers, and embedding_size is 3"),
        ({"pretrained_embeddings": "nowhere.txt"}, "'nowhere.txt' cannot be read: No such file"),
        ({"representation": "sparse"}, "representation: sparse has no table of vectors"),
        ({"weights_initializer": "zeros"}, "and weights_initializer: the vectors of the file are the initial values"),
    ],
)
def test_a_mistake_is_one_line_before_the_run_begins(own: dict[str, Any], line: str, home: Path) -> None:
    with pytest.raises(Mistakes, match=line) as mistakes:
        train(job(home, "text", "words", type="embed", **own), output=home / "out", quiet=True)
    assert str(mistakes.value).startswith("config.input_features[0].encoder.pretrained_embeddings: ")
    assert not (home / "out").exists()
