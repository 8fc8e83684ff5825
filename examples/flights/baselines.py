"""The same flights with scikit-learn: logistic regression and gradient boosting, beside our test ROC-AUC.

Both see the inputs that flights.yaml names, learn from its training part alone, and are tested on its test part. The
validation part is not touched: neither has a setting that is chosen here.

    python examples/flights/baselines.py [--dataset build/flights/flights.parquet] [--run out/flights]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from trainwright_api.checks import load
from trainwright_api.config import ModelConfig, resolve
from trainwright_api.config.data import HashSplit
from trainwright_trainer.data.prepared import TEST, TRAIN
from trainwright_trainer.data.split import hash_parts

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
JOB = HERE / "flights.yaml"
DATASET = ROOT / "build" / "flights" / "flights.parquet"
RUN = ROOT / "out" / "flights"
TARGET = "late"


def job_config() -> ModelConfig:
    """The config of flights.yaml, with every default filled in."""
    config = load.load(JOB).job.spec.config
    assert isinstance(config, ModelConfig)
    return resolve(config)


def inputs_of(config: ModelConfig, kind: str) -> list[str]:
    """The names of the job's inputs of one type."""
    return [feature.name for feature in config.input_features if feature.type == kind]


def parts_of(config: ModelConfig, rows: pd.DataFrame) -> npt.NDArray[np.uint8]:
    """uint8 [rows]: the part of each row, by the same function that the trainer uses."""
    split = config.preprocessing.split
    assert isinstance(split, HashSplit)
    return hash_parts(pa.array(rows[split.column].astype(object)), split.probabilities)


def logistic_regression(numbers: list[str], categories: list[str]) -> Pipeline:
    """One-hot categories, z-scored numbers; a missing number is the mean, and has a column that says so."""
    encoding = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), categories),
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
    )
    return make_pipeline(encoding, LogisticRegression(solver="newton-cholesky"))


def gradient_boosting(numbers: list[str], categories: list[str]) -> Pipeline:
    """Histogram gradient boosting with scikit-learn's own settings; its trees know categories and missing values."""
    encoding = make_column_transformer(
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan), categories), ("passthrough", numbers)
    )
    trees = HistGradientBoostingClassifier(categorical_features=list(range(len(categories))), random_state=0)
    return make_pipeline(encoding, trees)


def baselines(dataset: Path) -> dict[str, float]:
    """Test ROC-AUC by the name of the model."""
    config, rows = job_config(), pd.read_parquet(dataset)
    numbers, categories = inputs_of(config, "number"), inputs_of(config, "category")
    rows[categories] = rows[categories].astype(object).fillna("").astype(str)
    rows[numbers] = rows[numbers].astype("float64")
    parts, known = parts_of(config, rows), rows[TARGET].notna().to_numpy()
    train, test = rows[known & (parts == TRAIN)], rows[known & (parts == TEST)]
    models = {
        "logistic regression": logistic_regression(numbers, categories),
        "gradient boosting": gradient_boosting(numbers, categories),
    }
    return {name: test_score(model, train, test) for name, model in models.items()}


def test_score(model: Pipeline, train: pd.DataFrame, test: pd.DataFrame) -> float:
    """Fits on the one, judges on the other."""
    model.fit(train, train[TARGET].astype(int))
    return float(roc_auc_score(test[TARGET].astype(int), model.predict_proba(test)[:, 1]))


def ours(run: Path) -> float:
    """The test ROC-AUC that a finished run has written into its metrics.json."""
    end = json.loads((run / "metrics.json").read_text())["end"]
    if end is None:
        raise SystemExit(f"{run} holds a run that has not ended: train it first")
    return float(end["test"][TARGET]["roc_auc"])


def table(scores: Mapping[str, float]) -> str:
    """A small table for the terminal."""
    lines = [f"  {name:<20}  {score:.4f}" for name, score in scores.items()]
    return "\n".join(["  test ROC-AUC", *lines])


def main() -> None:
    parser = argparse.ArgumentParser(description="scikit-learn's models on the flights example, beside ours.")
    parser.add_argument("--dataset", type=Path, default=DATASET)
    parser.add_argument("--run", type=Path, default=RUN, help="the folder of a finished run")
    options = parser.parse_args()
    print(table({"trainwright": ours(options.run), **baselines(options.dataset)}))


if __name__ == "__main__":
    main()
