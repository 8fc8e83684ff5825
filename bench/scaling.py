"""Checks that time grows linearly: ours with an empty cache, from 10 thousand to 1 million rows, to 10 with --all.

python -m bench --only scaling [--all]
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.process import BUILD, measure, python
from bench.results import Result, result
from bench.tabular import data_of, ours

SIZES = (1_000, 10_000, 100_000, 1_000_000)  # the first size measures only the start of the program
LARGEST = 10_000_000
MAKE_LARGEST = "from bench.scaling import write; write({path!r}, {rows})"


def write(path: str, rows: int, chunk: int = 500_000) -> None:
    """Write the benchmark's data in several row groups, so that memory stays low. Runs in a process of its own."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from bench.baseline import frame

    first = pa.Table.from_pandas(frame(min(chunk, rows), seed=0), preserve_index=False)
    with pq.ParquetWriter(path, first.schema) as writer:
        writer.write_table(first)
        for seed, start in enumerate(range(chunk, rows, chunk), 1):
            writer.write_table(pa.Table.from_pandas(frame(min(chunk, rows - start), seed), preserve_index=False))


def large_data(rows: int) -> Path:
    """The data of the largest size. Created atomically if missing."""
    path = BUILD / f"t{rows}.parquet"
    if not path.exists():
        part = path.with_suffix(".part")
        BUILD.mkdir(parents=True, exist_ok=True)
        measure(python("-c", MAKE_LARGEST.format(path=str(part), rows=rows)))
        part.rename(path)
    return path


def exponent(seconds: Mapping[int, float]) -> float:
    """The e of seconds = start-up + b · rows^e that fits best: the least squared relative error, in steps of 0.01."""
    return min((step / 100 for step in range(30, 301)), key=lambda e: misfit(seconds, e))


def misfit(seconds: Mapping[int, float], e: float) -> float:
    """The sum of squared relative errors for this e, with the best start-up and b, both at least 0."""
    largest = max(seconds)
    points = [(1 / value, math.pow(rows / largest, e) / value) for rows, value in seconds.items()]
    uu, uv, vv = products(points)
    u_sum, v_sum = sum(u for u, _ in points), sum(v for _, v in points)
    determinant = uu * vv - uv * uv
    start_up, b = (u_sum * vv - v_sum * uv) / determinant, (v_sum * uu - u_sum * uv) / determinant
    if start_up < 0:
        start_up, b = 0.0, v_sum / vv
    return sum(math.pow(start_up * u + b * v - 1, 2) for u, v in points)


def products(points: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """The sums of u·u, u·v and v·v."""
    return sum(u * u for u, _ in points), sum(u * v for u, v in points), sum(v * v for _, v in points)


def run(*, largest: bool = False) -> dict[str, Result]:
    """All results of this benchmark: the least time of each size, its memory, and the growth of time."""
    found, seconds = {}, {}
    for rows in (*SIZES, *((LARGEST,) if largest else ())):
        data = large_data(rows) if rows == LARGEST else data_of(rows)
        process = min((ours(data, cold=True).process for _ in range(repeats(rows))), key=lambda one: one.seconds)
        found[f"scaling: {rows:,} rows"] = result(process.seconds, "s")
        found[f"scaling: {rows:,} rows, memory"] = result(process.peak_mib, "MiB")
        seconds[rows] = process.seconds
    return {**found, f"scaling: exponent to {max(seconds):,} rows": result(exponent(seconds), "", "≤ 1.1")}


def repeats(rows: int) -> int:
    """Small sizes are repeated, because their time beyond the start of the program is about as large as the noise."""
    return 3 if rows < 1_000_000 else 1
