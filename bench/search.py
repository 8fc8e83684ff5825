"""A search of 20 trials on 100,000 rows, two at a time, beside the same search written directly with Ray Tune.

python -m bench --only search
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from statistics import median

from bench.process import BUILD, ROOT, measure, python, trainwright
from bench.results import Result, result
from bench.tabular import data_of, ratio

ROWS, TRIALS, CONCURRENT = 100_000, 20, 2
RUNS = 3
JOB = ROOT / "bench" / "search.yaml"
DIRECT = ROOT / "bench" / "direct_search.py"
CACHE, RUN = BUILD / "cache-search", BUILD / "out" / "search"


def run(rows: int = ROWS, trials: int = TRIALS, runs: int = RUNS) -> dict[str, Result]:
    """All results of this benchmark. Each search begins with an empty cache and a Ray of its own."""
    os.environ["RAY_ADDRESS"] = "local"
    data, job = data_of(rows), job_of(trials)
    direct, ours = [], []
    for _ in range(runs):
        direct.append(searched(python(str(DIRECT), str(job), str(data), str(RUN), str(trials), str(CONCURRENT))))
        ours.append(searched(trainwright("hyperopt", str(job), "--dataset", str(data), "--output", str(RUN))))
    return {
        "search: whole": result(ratio(ours, direct), "× written directly", "≤ 1.15"),
        "search: a trial's start after the first": result(median(starts(RUN)), "s", "≤ 1"),
        "search: encodings of a feature": result(encodings(), "", "= 1"),
        "search: whole, ours": result(median(ours), "s"),
        "search: whole, written directly": result(median(direct), "s"),
    }


def job_of(trials: int) -> Path:
    """The job with this number of trials."""
    path = BUILD / "search.yaml"
    path.write_text(JOB.read_text().replace(f"num_samples: {TRIALS}", f"num_samples: {trials}"))
    return path


def searched(command: list[str]) -> float:
    """Wall-clock seconds of a whole search."""
    for folder in (CACHE, RUN):
        shutil.rmtree(folder, ignore_errors=True)
    RUN.parent.mkdir(parents=True, exist_ok=True)
    seconds = measure(command).seconds
    print(f"{Path(command[0]).name} {Path(command[1]).name}: {seconds:.1f} s", flush=True)
    return seconds


def starts(run: Path) -> list[float]:
    """For each trial but the first of each worker: the seconds from its begin to its first step."""
    known = [json.loads(path.read_text()) for path in sorted((run / "search" / "trials").glob("*.json"))]
    return [one["scores"][0]["at"] - one["at"] - one["scores"][0]["seconds"] for one in known[CONCURRENT:]]


def encodings() -> float:
    """The encodings of each feature: the files of features in the cache, for each feature of the job."""
    lines = measure(trainwright("cache", "ls", str(CACHE), "--json")).output.splitlines()
    entries = [json.loads(line) for line in lines]
    encoded = [one["feature"] for one in entries if one["entry"].startswith("features/")]
    return len(encoded) / len(set(encoded))
