"""The same functions with scikit-learn: linear models of words, columns and pixels, beside our test scores.

They learn from the training part of functions.yaml alone and are tested on its test part.

    python examples/functions/baseline.py [--dataset build/docstrings/docstrings.parquet] [--run out/functions]
"""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from PIL import Image
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import jaccard_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MultiLabelBinarizer, StandardScaler

from trainwright_trainer.data.prepared import TEST, TRAIN
from trainwright_trainer.data.split import hash_parts

ROOT = Path(__file__).resolve().parents[2]
DATASET = ROOT / "build" / "docstrings" / "docstrings.parquet"
RUN = ROOT / "out" / "functions"
PROBABILITIES = (0.7, 0.1, 0.2)
"""As in functions.yaml."""
COUNTS = ["lines", "arguments", "annotated", "decorators"]


def inputs(rows: pd.DataFrame, train: np.ndarray) -> csr_matrix:
    """TF-IDF of the words, the columns, and the pixels, in one matrix."""
    words = TfidfVectorizer(sublinear_tf=True).fit(rows["docstring"][train]).transform(rows["docstring"])
    table = np.column_stack([np.log1p(rows[COUNTS]), rows["kind"] == "class", rows["is_private"]])
    pixels = np.stack([np.asarray(Image.open(io.BytesIO(code))).reshape(-1) / 255 for code in rows["code"]])
    scaled = StandardScaler().fit(table[train]).transform(table)
    return csr_matrix(hstack([words, scaled, csr_matrix(1 - pixels) * 0.1]))


def baseline(dataset: Path) -> dict[str, float]:
    """The accuracy of the library and the Jaccard index of the statements, of the test rows."""
    rows = pd.read_parquet(dataset)
    parts = hash_parts(pa.array(rows["docstring"].astype(object)), PROBABILITIES)
    train, test = parts == TRAIN, parts == TEST
    values = inputs(rows, train)
    library = LogisticRegression(C=10, max_iter=300).fit(values[train], rows["library"][train])
    labels = MultiLabelBinarizer().fit_transform(rows["statements"])
    statements = OneVsRestClassifier(LogisticRegression(max_iter=300)).fit(values[train], labels[train])
    found = statements.predict(values[test])
    return {
        "library": float(library.score(values[test], rows["library"][test])),
        "statements": float(jaccard_score(labels[test], found, average="samples", zero_division=1.0)),
    }


def ours(run: Path) -> dict[str, float]:
    """The same scores, from the run."""
    test = json.loads((run / "metrics.json").read_text())["end"]["test"]
    return {"library": test["library"]["accuracy_micro"], "statements": test["statements"]["jaccard"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", type=Path, default=DATASET)
    parser.add_argument("--run", type=Path, default=RUN)
    given = parser.parse_args()
    print("                 library (accuracy)   statements (Jaccard)")
    for name, scores in {"trainwright": ours(given.run), "linear models": baseline(given.dataset)}.items():
        print(f"  {name:<14} {scores['library']:>18.4f} {scores['statements']:>22.4f}")


if __name__ == "__main__":
    main()
