"""A store that breaks off its replies, stalls or has no room: a run goes on."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyarrow import csv
from testkit.store_proxy import StoreFault, StoreProxy

from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.storage.s3client import client

RESET, BUSY, STALLED = {}, {"code": 503}, {"stalls": True}
READS, WRITES = ("GET", "HEAD"), ("PUT", "POST")


@pytest.fixture
def proxy(bucket, object_store, monkeypatch):  # noqa: ARG001 (it sets the address of the store first)
    """The proxy in front of the store, to which the environment leads."""
    monkeypatch.setattr(client, "ANSWER_SECONDS", 1)
    with StoreProxy(object_store.address) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
        yield proxy


@pytest.mark.parametrize("fault", [RESET, BUSY, pytest.param(STALLED, marks=pytest.mark.slow)], ids=str)
def test_a_run_goes_on(workplace, proxy, bucket, fault):
    storage_at(bucket).write_file("data.csv", Path("data.csv"))
    faults = [
        StoreFault(READS, "/data.csv", times=2, **fault),
        StoreFault(WRITES, "/cache/", times=2, **fault),
        StoreFault(READS, "/run/", times=2, **fault),
        StoreFault(WRITES, "/run/", times=2, **fault),
    ]
    for each in faults:
        proxy.add(each)
    job = workplace.job(lambda job: job.update(backend={"cache_dir": f"{bucket}/cache"}))
    ended = workplace.run("train", job, "--dataset", f"{bucket}/data.csv", "--output", f"{bucket}/run")
    assert ended.code == 0, ended.err  # a slow machine prints that it asks again
    assert [each.hits for each in faults] == [2, 2, 2, 2]


@pytest.mark.parametrize("skip", range(3))
def test_each_request_for_a_parquet_file_is_repeated(workplace, proxy, bucket, skip):
    """Arrow does not repeat one for fewer bytes than the text of the store's error has."""
    pq.write_table(csv.read_csv("data.csv"), "data.parquet")
    storage_at(bucket).write_file("data.parquet", Path("data.parquet"))
    fault = proxy.add(StoreFault(("GET",), "/data.parquet", skip=skip, code=503))
    ended = workplace.run("preprocess", workplace.job(), "--dataset", f"{bucket}/data.parquet")
    assert (ended.code, fault.hits) == (0, 1), ended.err


@pytest.mark.parametrize("fault", [pytest.param(RESET, marks=pytest.mark.slow), BUSY], ids=str)
def test_a_store_that_stays_broken_is_one_line(workplace, proxy, bucket, fault, monkeypatch):
    monkeypatch.setattr("trainwright_trainer.storage.s3._TRIES", 3)
    storage_at(bucket).write_file("data.csv", Path("data.csv"))
    always = proxy.add(StoreFault(("GET",), "/data.csv", times=10**6, **fault))
    line = workplace.refused("train", workplace.job(), "--dataset", f"{bucket}/data.csv", "--output", "run", code=3)
    assert line.startswith(f"dataset: '{bucket}/data.csv' cannot be read (")
    assert "\n" not in line
    assert 3 <= always.hits <= 12


KEYS = "the secret does not fit the access key; see AWS_SECRET_ACCESS_KEY"
NO_BUCKET = "there is no such bucket"


@pytest.mark.parametrize(
    ("use", "reason"),
    [(use, reason) for use in ("dataset", "cache", "output") for reason in (KEYS, NO_BUCKET)],
)
def test_a_place_that_cannot_be_used_is_one_line(workplace, bucket, monkeypatch, use, reason):
    storage_at(bucket).write_file("data.csv", Path("data.csv"))
    places = {"dataset": "data.csv", "cache": "cache", "output": "run"}
    places[use] = f"{bucket}{'-2' if reason == NO_BUCKET else ''}/{places[use]}"
    if reason == KEYS:
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary")
    job = workplace.job(lambda job: job.update(backend={"cache_dir": places["cache"]}))
    line = workplace.refused("train", job, "--dataset", places["dataset"], "--output", places["output"], code=3)
    assert reason in line
    assert bucket in line
    assert "\n" not in line
    assert "canary" not in line
