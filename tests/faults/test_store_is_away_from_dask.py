"""The store of the data and the cache is away while tasks of Dask on Ray read it: they wait, and nothing is lost."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from testkit.store_proxy import FOREVER, StoreFault, StoreProxy

from trainwright_trainer.data.files import find
from trainwright_trainer.data.source import DataSource
from trainwright_trainer.storage.location import S3Uri
from trainwright_trainer.storage.registry import storage_at

pytestmark = pytest.mark.slow  # it starts a Ray
ALL = ("GET", "HEAD", "PUT", "POST", "DELETE")
INPUTS = [f"n{number}" for number in range(4)]
ROWS = 5 * 65_536


@pytest.fixture
def proxy(bucket, object_store):  # noqa: ARG001 (the store is there)
    with StoreProxy(object_store.address) as proxy:
        yield proxy


@pytest.fixture
def job(workplace, bucket):
    """Writes a job with this backend, whose data are two Parquet files in the bucket, which tasks read."""
    random = np.random.default_rng(0)
    for name in ("a", "b"):
        table = {column: random.normal(size=ROWS) for column in INPUTS} | {"y": random.random(ROWS) < 0.3}
        file = io.BytesIO()
        pq.write_table(pa.table(table), file, row_group_size=50_000)
        storage_at(bucket).write(f"data/{name}.parquet", [file.getvalue()])

    def job(**backend):
        def change(job):
            job["dataset"], job["backend"] = f"{bucket}/data/*.parquet", backend
            job["config"] = {
                "input_features": [{"name": name, "type": "number"} for name in INPUTS],
                "output_features": [{"name": "y", "type": "binary"}],
            }

        return workplace.job(change, name=f"{len(backend)}.yaml")

    return job


def test_the_columns_are_those_of_a_run_without_a_fault(
    driver, workplace, job, proxy, bucket, object_store, monkeypatch
):
    """The first outage begins in the second pass, where nothing but tasks reads the data after the heads of the files.

    The second one begins when the columns are written.
    """
    workplace.done("preprocess", job(cache_dir=f"{bucket}/quiet"))
    monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
    heads = proxy.add(StoreFault(("GET",), "/data/", skip=FOREVER))
    assert DataSource(find(f"{bucket}/data/*.parquet"), [("", name) for name in INPUTS], []).divisible()
    first_pass = proxy.add(StoreFault(("PUT",), "/cache/sources/", code=503))
    columns = proxy.add(StoreFault(("PUT", "POST"), "/cache/features/", code=503))
    dask = job(type="ray", processor={"type": "dask", "persist": False}, cache_dir=f"{bucket}/cache")
    environment = {**object_store.environment, "AWS_ENDPOINT_URL": proxy.url, "RAY_ADDRESS": "local"}
    child = driver.start(workplace.folder, "preprocess", dask, environment=environment)
    for moment, reads in ((first_pass, heads.passed), (columns, 0)):
        child.until(lambda moment=moment: moment.hits)
        methods, path = (("GET",), "/data/") if reads else (ALL, "")
        outage = proxy.add(StoreFault(methods, path, skip=reads, code=503, times=FOREVER))
        child.until(lambda outage=outage: outage.hits >= 5)
        outage.times = 0
    assert child.wait() == 0, child.errors
    assert "Traceback" not in child.errors
    folder = object_store.folder / "buckets" / S3Uri.parse(bucket, "output").bucket
    quiet, found = (
        {
            path.relative_to(folder / cache): path.read_bytes()
            for kind in ("features", "statistics")
            for path in (folder / cache / kind).iterdir()
        }
        for cache in ("quiet", "cache")
    )
    assert found == quiet != {}
