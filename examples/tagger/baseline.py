"""The same lines with scikit-learn: the most frequent role of each word, and logistic regression of a word and its
neighbours, beside our test accuracy.

Both learn from the training part of tagger.yaml alone and are tested on its test part.

    python examples/tagger/baseline.py [--dataset build/tagger/lines.parquet] [--run out/tagger]
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from trainwright_trainer.data.prepared import TEST, TRAIN
from trainwright_trainer.data.split import hash_parts

ROOT = Path(__file__).resolve().parents[2]
DATASET = ROOT / "build" / "tagger" / "lines.parquet"
RUN = ROOT / "out" / "tagger"
PROBABILITIES = (0.7, 0.1, 0.2)
"""As in tagger.yaml."""
Words = list[tuple[dict[str, str], str]]


def words(rows: pd.DataFrame) -> Iterator[tuple[dict[str, str], str]]:
    """Each word with its neighbours, and its role."""
    for line, roles in zip(rows["words"].str.split(), rows["roles"].str.split(), strict=True):
        around = ["", *line, ""]
        for at, role in enumerate(roles):
            yield {"before": around[at], "word": around[at + 1], "after": around[at + 2]}, role


def most_frequent(train: Words, test: Words) -> float:
    """The share of right roles if each word has the one that is its most frequent one in training."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for place, role in train:
        counts[place["word"]][role] += 1
    usual = Counter(role for _, role in train).most_common(1)[0][0]
    known = {word: found.most_common(1)[0][0] for word, found in counts.items()}
    return sum(known.get(place["word"], usual) == role for place, role in test) / len(test)


def regression(train: Words, test: Words) -> float:
    model = make_pipeline(DictVectorizer(), LogisticRegression(C=3, max_iter=200))
    model.fit(*zip(*train, strict=True))
    return float(model.score(*zip(*test, strict=True)))


def ours(run: Path) -> float:
    """The same share, from the run."""
    return float(json.loads((run / "metrics.json").read_text())["end"]["test"]["roles"]["token_accuracy"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", type=Path, default=DATASET)
    parser.add_argument("--run", type=Path, default=RUN)
    given = parser.parse_args()
    rows = pd.read_parquet(given.dataset)
    parts = hash_parts(pa.array(rows["words"].astype(object)), PROBABILITIES)
    train, test = (list(words(rows[parts == part])) for part in (TRAIN, TEST))
    print("  test accuracy of a word")
    print(f"  trainwright         {ours(given.run):.4f}")
    print(f"  most frequent role  {most_frequent(train, test):.4f}")
    print(f"  logistic regression {regression(train, test):.4f}")


if __name__ == "__main__":
    main()
