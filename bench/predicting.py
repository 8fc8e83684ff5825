"""Predictions on Ray beside the shortest program with `map_batches` and the same model, and the memory of 10 million
rows.

python -m bench --only predict [--all] [--runs N]
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.process import BUILD, ROOT, measure, python, trainwright
from bench.results import Result, result
from bench.scaling import LARGEST, large_data
from bench.tabular import JOB, data_of

ROWS, RUNS = 1_000_000, 3
MODEL, OUT = BUILD / "predict-model", BUILD / "predictions"
MARK = "TRAINWRIGHT_BENCH_RUN"
"""A variable that all processes of a run inherit: the workers of Ray have other parents."""
EVERY_SECONDS = 0.5


OWN = (b"trainwright\0predict", b"ray::_ended", b"ray::MapWorker")
"""In the command lines of driver and actors: the program, its process on a node, the actors."""


@dataclass
class Use:
    """Wall-clock seconds, CPU seconds of all processes, and the largest sums of memory in MiB, a shared page once: of
    all, and of driver and actors. The others are tasks that read, and processes of Ray itself."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    all_mib: float = 0.0
    own_mib: float = 0.0


def run(*, runs: int = RUNS, largest: bool = False) -> dict[str, Result]:
    train()
    found = compared(ROWS, runs)
    return {**found, **compared(LARGEST, 1)} if largest else found


def compared(rows: int, runs: int) -> dict[str, Result]:
    """The programs in turn, from start to end: with few rows, the start of Ray and its processes is most of it."""
    pairs = [(used(bare(rows), OUT), used(ours(rows), OUT)) for _ in range(runs)]
    theirs, own = ([pair[side] for pair in pairs] for side in (0, 1))
    rates = median(one.seconds / other.seconds for one, other in pairs)
    cpu = median(one.cpu_seconds / other.cpu_seconds for one, other in pairs)
    name = f"predict {rows:,} rows on Ray"
    return {
        name: result(rates, "× bare map_batches' rows/s", "≥ 0.95"),
        f"{name}: rows per CPU second": result(cpu, "× bare map_batches'"),
        f"{name}: memory, driver and actors": result(max(one.own_mib for one in own), "MiB", "≤ 2048"),
        f"{name}: memory, all processes": result(max(one.all_mib for one in own), "MiB"),
        f"{name}: memory, all processes of bare map_batches": result(max(one.all_mib for one in theirs), "MiB"),
    }


def train() -> None:
    """The model of both programs."""
    if not MODEL.exists():
        measure(trainwright("train", str(JOB), "--dataset", str(data_of(100_000)), "--output", str(MODEL)))


def ours(rows: int) -> list[str]:
    options = ("--model", str(MODEL), "--dataset", str(data(rows)), "--output", f"{OUT}/", "--backend", "ray")
    return trainwright("predict", str(JOB), *options)


def bare(rows: int) -> list[str]:
    return python(str(ROOT / "bench" / "bare_predict.py"), str(MODEL), str(data(rows)), str(OUT))


def data(rows: int) -> Path:
    return large_data(rows) if rows == LARGEST else data_of(rows)


def used(command: Sequence[str], *folders: Path) -> Use:
    """What a program that starts its own Ray uses. The folders are deleted first."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    use, done = Use(), threading.Event()
    os.environ |= {MARK: str(os.urandom(8).hex()), "RAY_ADDRESS": "local"}
    watch = threading.Thread(target=watched, args=(os.environ[MARK], use, done))
    watch.start()
    try:
        use.seconds = measure(command).seconds
    finally:
        done.set()
        watch.join()
    return use


def watched(mark: str, use: Use, done: threading.Event) -> None:
    """Sum the CPU time and the memory of the processes that have this mark, until `done`."""
    cpu: dict[int, float] = {}
    while not done.wait(EVERY_SECONDS):
        everything = own = 0.0
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (
                    int(folder.name) == os.getpid()
                    or f"{MARK}={mark}".encode() not in (folder / "environ").read_bytes()
                ):
                    continue
                times = (folder / "stat").read_text().rpartition(")")[2].split()[11:13]
                cpu[int(folder.name)] = sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
                rollup = (folder / "smaps_rollup").read_text()
                one = next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")) / 1024
                line = (folder / "cmdline").read_bytes()
                everything, own = everything + one, own + one * any(name in line for name in OWN)
        use.all_mib, use.own_mib = max(use.all_mib, everything), max(use.own_mib, own)
    use.cpu_seconds = sum(cpu.values())
