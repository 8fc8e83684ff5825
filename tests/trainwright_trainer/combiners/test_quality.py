"""Combiners learn what a linear model cannot: the classes are shells in three columns, beside five of noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_gaussian_quantiles

from trainwright_trainer import train

NAMES = [f"x{i}" for i in range(8)]


@pytest.fixture(scope="module")
def shells() -> pd.DataFrame:
    columns, classes = make_gaussian_quantiles(n_samples=3000, n_features=3, n_classes=2, random_state=0)
    noise = np.random.default_rng(0).normal(size=(3000, 5))
    frame = pd.DataFrame(np.hstack([columns, noise]).astype(np.float32), columns=NAMES)
    return frame.assign(outside=classes.astype(bool))


def roc_auc(frame: pd.DataFrame, folder: Path, combiner: dict[str, Any]) -> float:
    config = {
        "input_features": [{"name": name, "type": "number"} for name in NAMES],
        "output_features": [{"name": "outside", "type": "binary"}],
        "combiner": combiner,
        "trainer": {"epochs": 15, "batch_size": 256, "learning_rate": 0.02, "early_stop": -1},
    }
    result = train({"config": config}, dataset=frame, output=str(folder / "out"), quiet=True)
    return float(result.test["outside"]["roc_auc"])


def test_tabnet_beats_a_linear_model(shells: pd.DataFrame, tmp_path: Path) -> None:
    linear = roc_auc(shells, tmp_path / "linear", {"type": "concat"})
    tabnet = roc_auc(shells, tmp_path / "tabnet", {"type": "tabnet", "size": 8, "output_size": 8})
    assert linear < 0.6
    assert tabnet > 0.85
