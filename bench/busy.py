"""A small job beside two busy processes: the batch size that `batch_size: auto` selects, and the time of a run. python
-m bench --only busy
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from bench.process import BUILD, ROOT, measure, python, trainwright
from bench.results import Result, result
from bench.tabular import data_of

NEIGHBOURS = 2
SEARCHES = 20
RUNS = 5
SMALL = ROOT / "examples" / "small" / "small.yaml"
SEARCHING = ROOT / "bench" / "busy.yaml"
ROWS = 100_000
RUN = BUILD / "out" / "busy"


def run() -> dict[str, Result]:
    """All results of this benchmark."""
    data_of(ROWS)
    with busy():
        sizes = [searched() for _ in range(SEARCHES)]
        print(f"batch_size auto, {SEARCHES} runs: {' '.join(map(str, sorted(sizes)))}", flush=True)
        pairs = [(trained(SMALL), trained(SMALL, "--threads", "1")) for _ in range(RUNS)]
    return {
        "busy: batch_size auto, largest of 20": result(max(sizes) / min(sizes), "× smallest", "≤ 2"),
        "busy: examples/small": result(median(ours / one for ours, one in pairs), "× one thread", "≤ 1.5"),
        "busy: examples/small, one thread": result(median(one for _, one in pairs), "s"),
    }


@contextmanager
def busy() -> Iterator[None]:
    """Run busy processes within the block."""
    neighbours = [subprocess.Popen(python("-c", "while True: pass")) for _ in range(NEIGHBOURS)]
    try:
        yield
    finally:
        for neighbour in neighbours:
            neighbour.kill()
            neighbour.wait()


def trained(job: Path, *options: str) -> float:
    """Wall-clock seconds of a whole process."""
    return measure(trainwright("train", str(job), "--output", str(RUN), "--overwrite", *options)).seconds


def searched() -> int:
    """The batch size that one run finds."""
    trained(SEARCHING)
    found: int = json.loads((RUN / "resolved.json").read_text())["resolved"]["batching"]["pass_rows"]
    return found
