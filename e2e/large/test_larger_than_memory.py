"""One epoch over data in S3 that are larger than the memory that the processes may use. It needs root.

`LARGE_GB`: the size of the larger table, 10 by default. It needs twice as much room on the disk.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import fs
from safetensors.numpy import load_file
from testkit.cluster.object_store import REGION, ObjectStore
from testkit.memory_group import Ended, MemoryGroup

from . import table

GB, GIB = 10**9, 2**30
LARGE_GB = float(os.environ.get("LARGE_GB", "10"))
SMALL, LARGE = LARGE_GB / 10, LARGE_GB
PARTITIONS_PER_GB = 20
"""Equally large partitions in both tables."""
LIMITS = {"local": 2 * GIB, "ray": 6 * GIB}
TRAINER = {"batch_size": 8192, "effective_batch_size": 8192, "learning_rate": 0.01, "precision": "float64"}
STREAMED: Mapping[str, Mapping[str, Any]] = {
    "local": {"fully_executed": False},
    "ray": {"fully_executed": False, "window_size_bytes": 2**27},
}
"""An eighth of 2 GiB is a quarter of the smaller table, but an eighth of 6 GiB is nearly all of it."""


@dataclass
class Place:
    """A folder with a store. `rows`: those of the tables in it, by size in GB."""

    folder: Path
    store: ObjectStore
    rows: dict[float, int] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, **self.store.environment, "RAY_ADDRESS": "local"}

    def table(self, size: float) -> str:
        """The URI of the table of this size, which is written once."""
        if size not in self.rows:
            keys = {"access_key": self.store.key_id, "secret_key": self.store.secret, "region": REGION}
            host = self.store.url.removeprefix("http://")
            files = fs.S3FileSystem(**keys, endpoint_override=host, scheme="http", allow_bucket_creation=True)
            files.create_dir("large")
            self.rows[size] = table.write(files, f"large/{size:g}", int(size * GB))
        return f"s3://large/{size:g}"

    def job(self, name: str, size: float, backend: str, loader: Mapping[str, Any]) -> Path:
        numbers = [{"name": one, "type": "number"} for one in table.NUMBERS]
        categories = [{"name": one, "type": "category"} for one in table.CATEGORIES]
        config = {
            "input_features": [*numbers, *categories],
            "output_features": [{"name": table.TARGET, "type": "binary"}],
            "trainer": {"epochs": 1, **TRAINER},
        }
        spec = {
            "seed": 7,
            "dataset": self.table(size),
            "config": config,
            "backend": {**self.backend(backend, size), "loader": loader, "cache_dir": str(self.cache(name))},
        }
        file = self.folder / f"{name}.json"
        file.write_text(json.dumps(spec))
        return file

    def backend(self, kind: str, size: float) -> dict[str, Any]:
        if kind == "local":
            return {"type": "local"}
        # Kept partitions would be spilled to the disk: a second copy of the table.
        processor = {"type": "dask", "persist": False, "parallelism": max(2, round(PARTITIONS_PER_GB * size))}
        return {"type": "ray", "processor": processor, "trainer": {"num_workers": 1}}

    def cache(self, name: str) -> Path:
        return self.folder / f"cache-{name}"

    def command(self, job: Path) -> list[str]:
        return [sys.executable, "-m", "trainwright_trainer", "train", str(job), "--output", str(self.run(job))]

    def run(self, job: Path) -> Path:
        return self.folder / "runs" / job.stem


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    if os.geteuid() != 0:
        pytest.fail("a control group needs root", pytrace=False)
    folder = tmp_path_factory.mktemp("large")
    with ObjectStore(folder / "store") as store:
        yield Place(folder, store)


@pytest.fixture(scope="module")
def limited(place: Place) -> Callable[[str, float], tuple[Path, Ended]]:
    """Trains one epoch within the backend's limit. Returns the run's folder and how the process ended."""
    made: dict[tuple[str, float], tuple[Path, Ended]] = {}

    def of(backend: str, size: float) -> tuple[Path, Ended]:
        if (backend, size) not in made:
            job = place.job(f"{backend}-{size:g}", size, backend, STREAMED[backend])
            log = place.folder / f"{job.stem}.log"
            with MemoryGroup(f"trainwright-{job.stem}", LIMITS[backend]) as group:
                ended = group.run(place.command(job), log, cwd=place.folder, env=place.environment)
            assert ended.code == 0, log.read_text()
            shutil.rmtree(place.cache(job.stem))  # the next run needs the room on the disk
            made[backend, size] = place.run(job), ended
            print(
                f"\n{job.stem} GB: {place.rows[size]:,} rows, {ended.seconds:.0f} s, {ended.peak_bytes / 2**20:.0f} MiB"
            )
        return made[backend, size]

    return of


@pytest.mark.parametrize("backend", LIMITS)
def test_the_memory_does_not_grow_with_the_data(backend: str, limited: Callable[..., tuple[Path, Ended]]) -> None:
    _, small = limited(backend, SMALL)
    run, large = limited(backend, LARGE)
    assert json.loads((run / "attempts/1/outcome.json").read_text())["class"] == "done"
    assert large.peak_bytes <= 1.1 * small.peak_bytes


def test_the_model_is_that_of_a_machine_with_plenty_of_memory(
    place: Place, limited: Callable[..., tuple[Path, Ended]]
) -> None:
    run, _ = limited("local", SMALL)
    rows = json.loads((run / "resolved.json").read_text())["resolved"]["window_rows"]
    assert 0 < rows < place.rows[SMALL]
    job = place.job("plenty", SMALL, "local", {"window_size_bytes": rows * _row_bytes()})
    subprocess.run(place.command(job), cwd=place.folder, env=place.environment, check=True, capture_output=True)
    found, expected = (load_file(one / "model/weights.safetensors") for one in (run, place.run(job)))
    assert found.keys() == expected.keys()
    for name, weight in expected.items():
        np.testing.assert_allclose(found[name], weight, rtol=0, atol=1e-9, err_msg=name)


def _row_bytes() -> int:
    """A float64 for each number and the target, an int64 for each category, and the row's number."""
    return 8 * (len(table.NUMBERS) + 1 + len(table.CATEGORIES) + 1)
