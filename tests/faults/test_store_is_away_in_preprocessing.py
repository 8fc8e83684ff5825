"""The store of the data and the cache is away during preprocessing: it waits, and nothing finished is lost."""

from __future__ import annotations

import random
from functools import partial

import pytest
from testkit.store_proxy import FOREVER, StoreFault, StoreProxy

from trainwright_trainer.storage.location import S3Uri
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.storage.retry_policy import RetryPolicy

ENVIRONMENT = 3
ALL = ("GET", "HEAD", "PUT", "POST", "DELETE")
INPUTS = [f"n{number}" for number in range(6)]
ROWS = 150_000
LENGTHS = [0, pytest.param(30, marks=pytest.mark.slow)]


@pytest.fixture
def proxy(bucket, object_store, monkeypatch):  # noqa: ARG001 (it sets the address of the store first)
    with StoreProxy(object_store.address) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
        yield proxy


@pytest.fixture
def job(workplace, bucket):
    """A job whose data, several reads long, and whose cache lie in the bucket."""
    draw = random.Random(1)
    rows = (",".join(f"{draw.random():.16f}" for _ in INPUTS) + f",{number % 2}" for number in range(ROWS))
    storage_at(bucket).write("rows.csv", ["\n".join([",".join([*INPUTS, "y"]), *rows]).encode()])

    def change(job):
        job["dataset"], job["backend"] = f"{bucket}/rows.csv", {"cache_dir": f"{bucket}/cache"}
        job["config"] = {
            "input_features": [{"name": name, "type": "number"} for name in INPUTS],
            "output_features": [{"name": "y", "type": "binary"}],
        }

    return workplace.job(change)


@pytest.fixture
def entries(bucket, object_store):
    """The entries of the cache, with the time of their writing. The server keeps objects as files."""
    folder = object_store.folder / "buckets" / S3Uri.parse(bucket, "output").bucket / "cache"

    def entries():
        found = [path for path in folder.rglob("*") if path.is_file() and path.parent.name not in ("uses", "cache")]
        return {path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in found}

    return entries


@pytest.mark.parametrize("seconds", LENGTHS)
@pytest.mark.parametrize("fault", [{"path": "/rows.csv", "skip": 3}, {"path": "/cache/features/", "skip": 2}], ids=str)
def test_it_goes_on(driver, workplace, job, proxy, object_store, entries, fault, seconds):
    """From one request on, the store answers none, for a few requests or for half a minute."""
    first = proxy.add(StoreFault(ALL, code=503, **fault))
    environment = {**object_store.environment, "AWS_ENDPOINT_URL": proxy.url}
    child = driver.start(workplace.folder, "preprocess", job, environment=environment)
    child.until(lambda: first.hits)
    outage = proxy.add(StoreFault(ALL, code=503, times=FOREVER))
    child.until(lambda: outage.hits >= 3)
    assert child.poll(seconds) is None
    outage.times = 0
    assert child.wait() == 0, child.errors
    assert "Traceback" not in child.errors
    assert len([name for name in entries() if name.startswith("features/")]) == len(INPUTS) + 1


def test_one_that_lasts_is_one_line_and_the_next_run_uses_what_is_finished(
    workplace, job, proxy, bucket, entries, monkeypatch
):
    policy = partial(RetryPolicy, seconds=0.5)
    monkeypatch.setattr("trainwright_trainer.storage.s3client.bucket.RetryPolicy", policy)
    outage = proxy.add(StoreFault(ALL, "/cache/features/", skip=9, times=FOREVER, code=503))
    line = workplace.refused("preprocess", job, code=ENVIRONMENT)
    assert f"{bucket}/cache" in line
    assert "the store says" in line
    assert "\n" not in line
    finished = entries()
    assert any(name.startswith("features/") for name in finished)
    outage.times = 0
    workplace.done("preprocess", job)
    found = entries()
    assert len([name for name in found if name.startswith("features/")]) == len(INPUTS) + 1
    assert {name: found[name] for name in finished} == finished
