"""The same pictures with scikit-learn: a support vector machine of the pixels, beside our test accuracy.

It learns from the training part of images.yaml alone and is tested on its test part.

    python examples/images/baseline.py [--dataset build/images/digits.csv] [--run out/images]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from trainwright_trainer.data.prepared import TEST, TRAIN
from trainwright_trainer.data.split import hash_parts

ROOT = Path(__file__).resolve().parents[2]
DATASET = ROOT / "build" / "images" / "digits.csv"
RUN = ROOT / "out" / "images"
PROBABILITIES = (0.7, 0.1, 0.2)
"""As in images.yaml."""


def baselines(dataset: Path) -> dict[str, float]:
    """The share of the test rows that each model gets right."""
    rows = pd.read_csv(dataset)
    parts = hash_parts(pa.array(rows["path"].astype(object)), PROBABILITIES)
    pixels = np.stack([np.asarray(Image.open(dataset.parent / path)).reshape(-1) / 255 for path in rows["path"]])
    train, test = parts == TRAIN, parts == TEST
    models = {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
        "support vectors": SVC(C=10),
    }
    return {
        name: float(model.fit(pixels[train], rows["digit"][train]).score(pixels[test], rows["digit"][test]))
        for name, model in models.items()
    }


def ours(run: Path) -> float:
    """The same share, from the run."""
    return float(json.loads((run / "metrics.json").read_text())["end"]["test"]["digit"]["accuracy_micro"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", type=Path, default=DATASET)
    parser.add_argument("--run", type=Path, default=RUN)
    given = parser.parse_args()
    print("  test accuracy")
    for name, share in {"trainwright": ours(given.run), **baselines(given.dataset)}.items():
        print(f"  {name:<19} {share:.4f}")


if __name__ == "__main__":
    main()
