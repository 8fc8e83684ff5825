"""A small training job on Ray, from start to end, beside the shortest program with Ray Train: what the start costs.

python -m bench --only ray [--runs N]
"""

from __future__ import annotations

from statistics import median

from bench.predicting import used
from bench.process import BUILD, ROOT, python, trainwright
from bench.results import Result, result
from bench.tabular import CACHE, JOB, data_of

ROWS, WORKERS, RUNS = 20_000, 2, 5
OUT = BUILD / "ray-training"


def run(*, runs: int = RUNS) -> dict[str, Result]:
    pairs = [(used(bare(), OUT), used(ours(), OUT, CACHE)) for _ in range(runs)]
    theirs, own = ([pair[side] for pair in pairs] for side in (0, 1))
    whole = median(other.seconds / one.seconds for one, other in pairs)
    cpu = median(other.cpu_seconds / one.cpu_seconds for one, other in pairs)
    name = f"train {ROWS:,} rows on Ray, {WORKERS} workers"
    return {
        f"{name}: whole": result(whole, "× bare Ray Train", "≤ 1.2"),
        f"{name}: CPU time of all processes": result(cpu, "× bare Ray Train"),
        f"{name}: whole, bare": result(median(one.seconds for one in theirs), "s"),
        f"{name}: whole, ours": result(median(one.seconds for one in own), "s"),
    }


def bare() -> list[str]:
    return python(str(ROOT / "bench" / "bare_ray.py"), str(data_of(ROWS)), str(OUT), str(WORKERS))


def ours() -> list[str]:
    """The job of the other benchmarks on Ray."""
    file = BUILD / "ray.yaml"
    trainer = f"trainer: {{strategy: ddp, num_workers: {WORKERS}}}"
    file.write_text(JOB.read_text().replace("backend: {type: local,", f"backend: {{type: ray, {trainer},"))
    return trainwright("train", str(file), "--dataset", str(data_of(ROWS)), "--output", str(OUT))
