"""The data path: loaders beside a hand-written gather, preprocessing beside a hand-written pyarrow program, and the
wait for data of a device whose step takes a millisecond.

python -m bench.data [--only loaders|preprocessing|stall|store] [--rows N] [--dry]

The device is simulated by the clock. So no copy to a device is part of any number.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import torch
from testkit.cluster.object_store import ObjectStore
from testkit.store_proxy import StoreProxy

from bench import pyarrow_preprocessing, tabular
from bench.process import ROOT
from bench.results import HERE, Book, Result, record, result
from bench.scaling import large_data
from trainwright_api.checks import load
from trainwright_api.config import ModelConfig, resolve
from trainwright_trainer.data.cache import cache_at
from trainwright_trainer.data.columnfile import Column
from trainwright_trainer.data.prepared import AnyColumn, Columns, Prepared
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.frames.interface import Processor
from trainwright_trainer.loader.batch import Batch, ColumnRange, Layout
from trainwright_trainer.loader.cut import Cut
from trainwright_trainer.loader.epoch_order import EpochOrder
from trainwright_trainer.loader.interface import Loader
from trainwright_trainer.loader.load import loaders
from trainwright_trainer.loader.materialised import Materialised
from trainwright_trainer.runtime.allocator import keep_memory_between_steps
from trainwright_trainer.runtime.threads import computing_with
from trainwright_trainer.storage import base
from trainwright_trainer.storage.s3client.job_credentials import NO_KEYS

BOOK = Book(HERE / "data.json", "<!-- results: make bench-data writes this table -->")
WIDTH, BATCHES, WINDOW_ROWS, ROUNDS = 20, (1024, 65_536), 262_144, 5
DEVICE_SECONDS = 0.001
STEPS_AHEAD = 2
"""The most steps that wait for the device."""
DELAY_SECONDS = 0.015
"""The time for which each request to the slow store is held up, as if it were far away."""
LAYOUT = Layout({f"x{column}": ColumnRange("floats", column, column + 1) for column in range(WIDTH)}, WIDTH, 0)


def prepared(rows: int, folder: Path, place: str | None = None) -> tuple[Prepared, Prepared]:
    """The same numbers in memory, and in files of a cache in `place` (default: `folder`)."""
    draws = np.random.default_rng(0)
    cache = cache_at(place or str(folder), folder, NO_KEYS)
    held: dict[str, AnyColumn] = {}
    stored: dict[str, AnyColumn] = {}
    for name in LAYOUT.columns:
        column = Column(pa.chunked_array([pa.array(draws.normal(size=rows).astype("float32"))]))
        cache.write_column("features", name, column)
        held[name] = column
    cache.finish()
    for name in LAYOUT.columns:
        found = cache.stored_column("features", name)
        assert found is not None
        stored[name] = found
    splits = np.zeros(rows, np.uint8)
    one, other = (Prepared("x", rows, splits, Columns(columns), {}, "", "", True) for columns in (held, stored))
    return one, other


def by_hand(rows: torch.Tensor, size: int) -> Iterator[torch.Tensor]:
    order = torch.randperm(len(rows))
    for start in range(0, len(rows), size):
        yield rows[order[start : start + size]]


def seconds_of(batches: Callable[[], Iterator[object]]) -> float:
    start = time.perf_counter()
    for _ in batches():
        pass
    return time.perf_counter() - start


def ratio(ours: Callable[[], float], theirs: Callable[[], float], rounds: int = ROUNDS) -> float:
    """The median of their seconds by our seconds, in turn."""
    return statistics.median(theirs() / ours() for _ in range(rounds))


def loader_results(rows: int) -> dict[str, Result]:
    found: dict[str, Result] = {}
    with tempfile.TemporaryDirectory(prefix="trainwright-bench-") as folder:
        held, stored = prepared(rows, Path(folder))
        kinds = {
            "in memory": (made(held, None), "≥ 0.9"),
            "windows of columns in memory": (made(held, WINDOW_ROWS), "≥ 0.6"),
            "windows of files": (made(stored, WINDOW_ROWS), "≥ 0.6"),
        }
        plain = next(kinds["in memory"][0].sequential(rows)).floats
        for size in BATCHES:
            for kind, (loader, goal) in kinds.items():
                value = ratio(
                    lambda loader=loader, size=size: seconds_of(lambda: epoch(loader, size)),  # type: ignore[misc]
                    lambda size=size: seconds_of(lambda: by_hand(plain, size)),  # type: ignore[misc]
                )
                found[f"loader {kind}, batches of {size:,}"] = result(value, "× the gather's rows/s", goal)
    return found


def made(data: Prepared, window_rows: int | None, device: torch.device | None = None) -> Loader:
    return loaders(data, LAYOUT, torch.float32, EpochOrder(1, True, window_rows), device)["train"]


def epoch(loader: Loader, size: int, number: int = 0) -> Iterator[Batch]:
    return loader.epoch(number, 0, Cut(size))


def stall_results(rows: int) -> dict[str, Result]:
    """The share of an epoch in which the device waits, if each step takes a millisecond. Another epoch comes before."""
    found: dict[str, Result] = {}
    with tempfile.TemporaryDirectory(prefix="trainwright-bench-") as folder:
        held, stored = prepared(rows, Path(folder))
        in_memory = made(held, None)
        assert isinstance(in_memory, Materialised)
        beside = replace(in_memory, ahead=True)  # as for a device
        for kind, loader in {"in memory": beside, "windows of files": made(stored, WINDOW_ROWS)}.items():
            for size in BATCHES:
                _, share = (100 * waiting(epoch(loader, size, number)) for number in (0, 1))
                found[f"stall {kind}, batches of {size:,}"] = result(share, "%", "≤ 2")
    return found


def waiting(batches: Iterator[Batch]) -> float:
    """The share of the time in which the simulated device has no step to compute.

    As with CUDA, the program gives the device its next step before it has ended the last one.
    """
    start = free = time.perf_counter()
    idle = 0.0
    for _ in batches:
        ready = time.perf_counter()
        idle += max(0.0, ready - free)
        free = max(ready, free) + DEVICE_SECONDS
        time.sleep(max(0.0, free - STEPS_AHEAD * DEVICE_SECONDS - time.perf_counter()))
    return idle / (free - start)


def store_results(rows: int) -> dict[str, Result]:
    """The windows of a cache in a store, beside a read of one column after the other. At most four windows."""
    rows = min(rows, 4 * WINDOW_ROWS)
    with slow_store() as bucket, tempfile.TemporaryDirectory(prefix="trainwright-bench-") as folder:
        _, stored = prepared(rows, Path(folder), f"{bucket}/cache")
        loader = made(stored, WINDOW_ROWS)

        def seconds(readers: int) -> float:
            with patch.object(base, "READERS", readers), computing_with(1):
                return seconds_of(lambda: epoch(loader, BATCHES[1]))

        rounds = [(seconds(1), seconds(base.READERS)) for _ in range(ROUNDS)]
    name = f"windows of a store, {1000 * DELAY_SECONDS:.0f} ms a request"
    windows = math.ceil(rows / WINDOW_ROWS)
    return {
        f"{name}: columns one by one": result(statistics.median(one for one, _ in rounds) / windows, "s a window"),
        f"{name}: side by side": result(statistics.median(ours for _, ours in rounds) / windows, "s a window"),
        f"{name}: ratio": result(statistics.median(one / ours for one, ours in rounds), "× as fast"),
    }


@contextmanager
def slow_store() -> Iterator[str]:
    """Inside, the environment names a server of S3 on this machine that is slow. Yields the URI of an empty bucket."""
    with (
        tempfile.TemporaryDirectory(prefix="trainwright-bench-") as folder,
        ObjectStore(Path(folder) / "s3") as store,
        StoreProxy(store.address, DELAY_SECONDS) as proxy,
        patch.dict(os.environ, {**store.environment, "AWS_ENDPOINT_URL": proxy.url}),
    ):
        (store.folder / "buckets" / "bench").mkdir()
        yield "s3://bench"


def preprocessing_results(rows: int) -> dict[str, Result]:
    """Whole preprocessing into an empty cache, beside the hand-written program, in this process and in turn."""
    data = str(large_data(rows) if rows > tabular.ROWS else tabular.data_of(rows))
    spec = load.inspected((ROOT / "bench" / "tabular.yaml").read_text(), "tabular.yaml").valid().job.spec
    assert spec.config is not None
    config, found = resolve(spec.config), {}
    for name, processor, goal in (("pandas", None, "≤ 1.2"), ("dask, 2 threads", _dask(), "≤ 1.5")):
        value = 1 / ratio(
            lambda processor=processor: _timed(partial(_prepare, config, data, processor)),  # type: ignore[misc]
            lambda: _timed(lambda folder: pyarrow_preprocessing.run(data, folder)),
            rounds=3,
        )
        found[f"preprocessing {rows:,} rows, {name}"] = result(value, "× pyarrow's time", goal)
    return found


def _dask() -> Processor:
    from trainwright_trainer.frames.dask import DaskProcessor

    return DaskProcessor({"scheduler": "threads", "num_workers": 2}, tasks=2)


def _prepare(config: ModelConfig, data: str, processor: Processor | None, folder: str) -> None:
    prepare(config, data, seed=42, cache_dir=folder, processor=processor).finish()


def _timed(work: Callable[[str], None]) -> float:
    with tempfile.TemporaryDirectory(prefix="trainwright-bench-") as folder:
        start = time.perf_counter()
        work(folder)
        return time.perf_counter() - start


BENCHMARKS = {
    "loaders": loader_results,
    "stall": stall_results,
    "store": store_results,
    "preprocessing": preprocessing_results,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.data", description="The data path beside hand-written code.")
    parser.add_argument("--only", choices=list(BENCHMARKS), help="one of the benchmarks")
    parser.add_argument("--rows", type=int, default=10_000_000, help="the rows of each table")
    parser.add_argument("--dry", action="store_true", help="write nothing down")
    options = parser.parse_args()
    keep_memory_between_steps()  # as a run does
    for name, run in BENCHMARKS.items():
        if options.only in (None, name):
            record(run(options.rows), BOOK, dry=options.dry)


if __name__ == "__main__":
    main()
