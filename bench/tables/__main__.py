"""The smallest config on eight tables beside scikit-learn; writes bench/tables.json and its table in bench/README.md.

python -m bench.tables [--only iris] [--splits 20] [--dry]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

from bench.results import HERE, Book, Result, record, result
from bench.tables import models
from bench.tables.data import TABLES, Table

BOOK = Book(HERE / "tables.json", "<!-- results: make bench-tables writes this table -->")


def measured(name: str, table: Table, splits: int) -> dict[str, Result]:
    """Means over the splits. The goal applies to the paired differences: a split is one pair."""
    with tempfile.TemporaryDirectory(prefix="trainwright-bench-") as folder:
        ours = [models.ours(table, seed, Path(folder)) for seed in range(splits)]
    linear = [models.linear(table, seed) for seed in range(splits)]
    trees = [models.boosting(table, seed) for seed in range(splits)]
    behind = behind_in_errors(ours, linear)
    regression = "ridge regression" if table.kind == "number" else "logistic regression"
    return {
        f"{name}, {table.score}: behind {regression}": result(behind, "standard errors", "≤ 1.0"),
        f"{name}: trainwright": result(statistics.fmean(ours), table.score),
        f"{name}: {regression}": result(statistics.fmean(linear), table.score),
        f"{name}: gradient boosting": result(statistics.fmean(trees), table.score),
    }


def behind_in_errors(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The number of standard errors of the mean difference by which ours is below theirs; negative if it is above."""
    differences = [other - own for own, other in zip(ours, theirs, strict=True)]
    error = statistics.stdev(differences) / sqrt(len(differences))
    mean = statistics.fmean(differences)
    return mean / error if error else 0.0 if abs(mean) < 1e-12 else float("inf" if mean > 0 else "-inf")


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.tables", description="How good the smallest file's models are.")
    parser.add_argument("--only", action="append", choices=list(TABLES), help="this table only")
    parser.add_argument("--splits", type=int, default=20, help="paired splits of each table, two or more")
    parser.add_argument("--dry", action="store_true", help="print, and write nothing")
    options = parser.parse_args()
    for name in options.only or TABLES:
        record(measured(name, TABLES[name](), options.splits), BOOK, dry=options.dry)


if __name__ == "__main__":
    main()
