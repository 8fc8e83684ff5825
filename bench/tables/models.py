"""Each model's test score on one split of a table: the same training rows and the same test rows."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from bench.tables.data import TARGET, Table
from trainwright_trainer import train
from trainwright_trainer.data.prepared import TEST, TRAIN
from trainwright_trainer.data.split import random_parts

SHARES = (0.7, 0.1, 0.2)


def ours(table: Table, seed: int, folder: Path, trainer: Mapping[str, Any] | str | None = None) -> float:
    """The smallest config, trained in this process. `trainer`: a trainer section to try."""
    dataset = folder / "table.parquet"
    if not dataset.exists():
        table.rows.to_parquet(dataset)
    config = table.config if trainer is None else {**table.config, "trainer": trainer}
    with tempfile.TemporaryDirectory(dir=folder) as output:
        job = {"dataset": str(dataset), "config": config}
        found = train(job, seed=seed, output=output, overwrite=True, quiet=True)
    return float(found.test[TARGET][table.score])


def linear(table: Table, seed: int) -> float:
    """Logistic or ridge regression with scikit-learn's defaults, on z-scored numbers and one-hot categories."""
    encoding = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), table.categories), (StandardScaler(), table.numbers)
    )
    model = Ridge() if table.kind == "number" else LogisticRegression(max_iter=5_000)
    return _judged(table, seed, make_pipeline(encoding, model))


def boosting(table: Table, seed: int) -> float:
    """Histogram gradient boosting with scikit-learn's defaults; its trees handle categories."""
    encoding = make_column_transformer(
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan), table.categories),
        ("passthrough", table.numbers),
    )
    kind = HistGradientBoostingRegressor if table.kind == "number" else HistGradientBoostingClassifier
    trees = kind(categorical_features=list(range(len(table.categories))), random_state=0)
    return _judged(table, seed, make_pipeline(encoding, trees))


def _judged(table: Table, seed: int, model: Any) -> float:
    parts = random_parts(seed, np.arange(len(table.rows)), SHARES)
    training, test = table.rows[parts == TRAIN], table.rows[parts == TEST]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about test categories that no training row has
        model.fit(training.drop(columns=TARGET), _target(table, training))
        return _SCORES[table.score](model, test.drop(columns=TARGET), _target(table, test))


def _target(table: Table, rows: pd.DataFrame) -> pd.Series:
    return rows[TARGET].astype(int) if table.kind == "binary" else rows[TARGET]


_SCORES: Mapping[str, Callable[[Any, pd.DataFrame, pd.Series], float]] = {
    "accuracy_micro": lambda model, rows, truth: float(accuracy_score(truth, model.predict(rows))),
    "roc_auc": lambda model, rows, truth: float(roc_auc_score(truth, model.predict_proba(rows)[:, 1])),
    "r2": lambda model, rows, truth: float(r2_score(truth, model.predict(rows))),
}
