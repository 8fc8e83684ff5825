"""A million rows, whole processes in turn: the baseline; ours with an empty cache; ours with a warm cache.

python -m bench --only tabular
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.process import BUILD, ROOT, Measured, measure, python, trainwright
from bench.results import Result, result

ROWS = 1_000_000
RUNS = 5
JOB = ROOT / "bench" / "tabular.yaml"
BASELINE = ROOT / "bench" / "baseline.py"
CACHE, RUN = BUILD / "cache", BUILD / "out" / "tabular"
# The imports of a training run before it reads its first row; each program prints its own seconds.
IMPORTS = "import time; t = time.time(); import trainwright_trainer.tasks.run, torch.optim; print(time.time() - t)"


@dataclass(frozen=True)
class ProgramRun:
    """One run of one program: the process, the rows/s of its training steps, and its test ROC-AUC."""

    process: Measured
    rows_per_second: float
    roc_auc: float


def baseline(data: Path) -> ProgramRun:
    """One run of the hand-written program."""
    process = measure(python(str(BASELINE), str(data)))
    return ProgramRun(
        process, printed(r"\(([\d,]+) rows/s", process.output), printed(r"test auc ([\d.]+)", process.output)
    )


def ours(data: Path, *, cold: bool) -> ProgramRun:
    """One run of ours; `cold`: empty the cache first."""
    if cold:
        shutil.rmtree(CACHE, ignore_errors=True)
    command = trainwright("train", str(JOB), "--dataset", str(data), "--output", str(RUN), "--overwrite")
    process = measure(command)
    metrics = json.loads((RUN / "metrics.json").read_text())
    seconds = sum(1 / round_["rows_per_second"] for round_ in metrics["rounds"])
    return ProgramRun(process, len(metrics["rounds"]) / seconds, metrics["end"]["test"]["y"]["roc_auc"])


def printed(pattern: str, output: str) -> float:
    """The number that the pattern matches in a program's output."""
    found = re.search(pattern, output)
    if found is None:
        raise SystemExit(f"no {pattern} in:\n{output}")
    return float(found[1].replace(",", ""))


def data_of(rows: int) -> Path:
    """The data of the benchmark, created if missing."""
    path = BUILD / f"t{rows}.parquet"
    if not path.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        measure(python(str(BASELINE), "make", str(BUILD), str(rows)))
    return path


def ratio(ones: Sequence[float], others: Sequence[float]) -> float:
    """The median of the ratios of consecutive runs."""
    return median(one / other for one, other in zip(ones, others, strict=True))


def run(runs: int = RUNS) -> dict[str, Result]:
    """All results of this benchmark. `runs` rounds of three processes each."""
    data = data_of(ROWS)
    baselines, colds, warms = [], [], []
    for _ in range(runs):
        baselines.append(baseline(data))
        colds.append(ours(data, cold=True))
        warms.append(ours(data, cold=False))
    return {**ratios(baselines, colds, warms), **absolutes(baselines, colds, warms)}


def ratios(
    baselines: Sequence[ProgramRun], colds: Sequence[ProgramRun], warms: Sequence[ProgramRun]
) -> dict[str, Result]:
    """The results with a goal: ours against the baseline."""
    seconds = [[one.process.seconds for one in runs] for runs in (baselines, colds, warms)]
    peaks = [[one.process.peak_mib for one in runs] for runs in (baselines, colds, warms)]
    speeds = [[one.rows_per_second for one in runs] for runs in (baselines, colds, warms)]
    scores = abs(median(one.roc_auc for one in colds) - median(one.roc_auc for one in baselines))
    return {
        "tabular: whole, empty cache": result(ratio(seconds[1], seconds[0]), "× baseline", "≤ 0.84"),
        "tabular: whole, warm cache": result(ratio(seconds[2], seconds[0]), "× baseline", "≤ 1.0"),
        "tabular: steps, empty cache": result(ratio(speeds[1], speeds[0]), "× baseline's rows/s", "≥ 0.95"),
        "tabular: steps, warm cache": result(ratio(speeds[2], speeds[0]), "× baseline's rows/s", "≥ 0.95"),
        "tabular: memory, empty cache": result(ratio(peaks[1], peaks[0]), "× baseline", "≤ 1.3"),
        "tabular: memory, warm cache": result(ratio(peaks[2], peaks[0]), "× baseline", "≤ 1.3"),
        "tabular: test ROC-AUC": result(scores, "from the baseline's", "≤ 0.002"),
    }


def absolutes(
    baselines: Sequence[ProgramRun], colds: Sequence[ProgramRun], warms: Sequence[ProgramRun]
) -> dict[str, Result]:
    """The absolute values behind the ratios; valid for one machine only."""
    found = {}
    for name, runs in (("baseline", baselines), ("ours, empty cache", colds), ("ours, warm cache", warms)):
        found[f"{name}: whole"] = result(median(one.process.seconds for one in runs), "s")
        found[f"{name}: steps"] = result(median(one.rows_per_second for one in runs), "rows/s")
        found[f"{name}: peak memory"] = result(median(one.process.peak_mib for one in runs), "MiB")
    imports = [printed(r"import ([\d.]+) s", one.process.output) for one in baselines]
    own = [float(measure(python("-c", IMPORTS)).output) for _ in baselines]
    return {**found, "baseline: imports": result(median(imports), "s"), "ours: imports": result(median(own), "s")}
