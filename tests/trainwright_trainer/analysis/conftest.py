"""A small trained model: `y` and `z` depend on `x` and on `kind`, not on `noise`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from trainwright_trainer import train
from trainwright_trainer.analysis.subject import Subject
from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.tasks.saved_model import SavedModel, load_model

ROWS = 1500


@pytest.fixture(scope="session")
def data_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(0)
    x, noise, kind = random.normal(size=ROWS), random.normal(size=ROWS), random.integers(0, 3, ROWS)
    score = 2 * x + np.array([-1.0, 0.0, 1.0])[kind]
    table = pa.table(
        {
            "x": x,
            "noise": noise,
            "kind": [f"k{one}" for one in kind],
            "words": [" ".join(["a", "b", "c"][: 1 + one]) for one in kind],
            "y": [("no", "yes")[one] for one in (random.random(ROWS) < 1 / (1 + np.exp(-score))).astype(int)],
            "z": 10 * score + random.normal(size=ROWS),
        }
    )
    path = tmp_path_factory.mktemp("analysis") / "data.csv"
    pyarrow.csv.write_csv(table, path)
    return path


@pytest.fixture(scope="session")
def saved(data_file: Path) -> SavedModel:
    config = {
        "input_features": [
            {"name": "x", "type": "number"},
            {"name": "noise", "type": "number"},
            {"name": "kind", "type": "category"},
            {"name": "words", "type": "set"},
        ],
        "output_features": [{"name": "y", "type": "binary"}, {"name": "z", "type": "number"}],
        "trainer": {"epochs": 8, "batch_size": 64, "learning_rate": 0.01},
        "preprocessing": {"split": {"type": "random", "probabilities": [0.5, 0.3, 0.2]}},
    }
    job = {"dataset": str(data_file), "config": config, "report": {"maxSeconds": 0}}
    run = train(job, output=str(data_file.parent / "out"))
    return load_model(run.model)


@pytest.fixture(scope="session")
def prepared(saved: SavedModel, data_file: Path) -> Prepared:
    return prepare(saved.config, str(data_file), seed=42)


@pytest.fixture
def subject(saved: SavedModel, prepared: Prepared) -> Subject:
    return Subject(saved.model, saved.config, prepared, 42, 100)
