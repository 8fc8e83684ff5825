"""Does time grow linearly? Ours with an empty cache, from 10 thousand to 1 million rows, or to 10 with --all.

python -m bench --only scaling [--all]
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from pathlib import Path

from bench.process import BUILD, measure, python
from bench.results import Result, result
from bench.tabular import data_of, ours

START_UP = 1_000  # rows that take no time: what is left is the start of the program
SIZES = (10_000, 100_000, 1_000_000)
LARGEST = 10_000_000
MAKE_LARGEST = "from bench.scaling import write; write({path!r}, {rows})"


def write(path: str, rows: int, chunk: int = 500_000) -> None:
    """The benchmark's data in as many row groups as it takes, so that memory stays low. For a process of its own."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from bench.floor import frame

    first = pa.Table.from_pandas(frame(min(chunk, rows), seed=0), preserve_index=False)
    with pq.ParquetWriter(path, first.schema) as writer:
        writer.write_table(first)
        for seed, start in enumerate(range(chunk, rows, chunk), 1):
            writer.write_table(pa.Table.from_pandas(frame(min(chunk, rows - start), seed), preserve_index=False))


def large_data(rows: int) -> Path:
    """The data of the largest size, made where they are not there yet. Appears whole or not at all."""
    path = BUILD / f"t{rows}.parquet"
    if not path.exists():
        part = path.with_suffix(".part")
        BUILD.mkdir(parents=True, exist_ok=True)
        measure(python("-c", MAKE_LARGEST.format(path=str(part), rows=rows)))
        part.rename(path)
    return path


def slope(seconds: Mapping[int, float]) -> float:
    """The exponent e of seconds ∝ rows^e: the line of least squares through the logarithms."""
    xs, ys = [log(rows) for rows in seconds], [log(value) for value in seconds.values()]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    covariance = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    return covariance / sum((x - x_mean) ** 2 for x in xs)


def run(*, largest: bool = False) -> dict[str, Result]:
    """All lines of this benchmark. The exponent is of the time past the start-up, which does not grow."""
    start_up = min(ours(data_of(START_UP), cold=True).process.seconds for _ in range(3))
    found, grown = {f"scaling: {START_UP:,} rows": result(start_up, "s")}, {}
    for rows in (*SIZES, *((LARGEST,) if largest else ())):
        data = large_data(rows) if rows == LARGEST else data_of(rows)
        process = min((ours(data, cold=True).process for _ in range(repeats(rows))), key=lambda one: one.seconds)
        found[f"scaling: {rows:,} rows"] = result(process.seconds, "s")
        found[f"scaling: {rows:,} rows, memory"] = result(process.peak_mib, "MiB")
        grown[rows] = max(process.seconds - start_up, 0.01)
    return {**found, f"scaling: exponent to {max(grown):,} rows": result(slope(grown), "", "≤ 1.1")}


def repeats(rows: int) -> int:
    """Small sizes are repeated: their time past the start-up is of the size of the noise."""
    return 3 if rows < 1_000_000 else 1
