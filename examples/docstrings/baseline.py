"""The same docstrings with scikit-learn: TF-IDF of words and logistic regression, beside our test accuracy.

It learns from the training part of docstrings.yaml alone and is tested on its test part.

    python examples/docstrings/baseline.py [--dataset build/docstrings/docstrings.parquet] [--run out/docstrings]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from trainwright_trainer.data.prepared import TEST, TRAIN
from trainwright_trainer.data.split import hash_parts

ROOT = Path(__file__).resolve().parents[2]
DATASET = ROOT / "build" / "docstrings" / "docstrings.parquet"
RUN = ROOT / "out" / "docstrings"
PROBABILITIES = (0.7, 0.1, 0.2)
"""As in docstrings.yaml."""


def baseline(dataset: Path) -> float:
    """The share of the test rows that the linear model gets right."""
    rows = pd.read_parquet(dataset)
    parts = hash_parts(pa.array(rows["docstring"].astype(object)), PROBABILITIES)
    train, test = rows[parts == TRAIN], rows[parts == TEST]
    model = make_pipeline(
        TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)), LogisticRegression(C=10, max_iter=300)
    )
    model.fit(train["docstring"], train["library"])
    return float(model.score(test["docstring"], test["library"]))


def ours(run: Path) -> float:
    """The same share, from the run."""
    return float(json.loads((run / "metrics.json").read_text())["end"]["test"]["library"]["accuracy_micro"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", type=Path, default=DATASET)
    parser.add_argument("--run", type=Path, default=RUN)
    given = parser.parse_args()
    print("  test accuracy")
    print(f"  trainwright           {ours(given.run):.4f}")
    print(f"  TF-IDF and regression {baseline(given.dataset):.4f}")


if __name__ == "__main__":
    main()
