"""Whole runs with everything in a bucket: the same model as in a folder, and no key in anything that is written."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.registry import storage_at


@pytest.fixture
def store(bucket: str) -> Storage:
    return storage_at(bucket)


def epochs(count):
    return lambda job: job["config"]["trainer"].update(epochs=count)


def in_store(bucket):
    """A resource whose every place is in the bucket."""

    def change(job):
        spec = {**job, "dataset": f"{bucket}/data.csv", "output": f"{bucket}/runs"}
        spec["backend"] = {"type": "local", "cache_dir": f"{bucket}/cache"}
        job.clear()
        job |= {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": "late"}}
        job["spec"] = spec

    return change


def every_name(storage: Storage, prefix: str = "") -> list[str]:
    found = []
    for name in storage.list(prefix):
        found += every_name(storage, prefix + name) if name.endswith("/") else [prefix + name]
    return found


@pytest.mark.parametrize("kind", ["bucket", "google_bucket"])
def test_a_run_in_a_bucket_is_the_run_in_a_folder(workplace, request, kind):
    bucket = request.getfixturevalue(kind)
    store = storage_at(bucket)
    store.write_file("data.csv", workplace.folder / "data.csv")
    out = workplace.done("train", workplace.job(in_store(bucket))).out
    assert f"model {bucket}/runs/late/model · report {bucket}/runs/late/report.html" in out
    workplace.done("train", workplace.job(), "--output", "here")
    here = storage_at("here")
    kinds = {name.rpartition("/")[0].rstrip("0123456789") for name in every_name(here)}
    assert {
        name.removeprefix("runs/late/").rpartition("/")[0].rstrip("0123456789") for name in every_name(store, "runs/")
    } == kinds
    for name in ("model/weights.safetensors", "model/config.json", "model/statistics.json"):
        assert store.read(f"runs/late/{name}") == here.read(name)
    ends = [
        json.loads(storage.read(f"{prefix}metrics.json"))["end"]["test"]
        for storage, prefix in ((store, "runs/late/"), (here, ""))
    ]
    assert ends[0] == ends[1]
    assert not [
        path
        for path in workplace.folder.iterdir()
        if path.name not in ("data.csv", "job.yaml", "here", ".trainwright_cache")
    ]


def test_logs_of_a_bucket_are_tensorboards(workplace, bucket, store):
    workplace.done("train", workplace.job(epochs(2)), "--output", f"{bucket}/run")
    [name] = store.list("run/logs/attempt-1/")
    path = workplace.folder / name
    path.write_bytes(store.read(f"run/logs/attempt-1/{name}"))
    tags = {value.tag for event in EventFileLoader(str(path)).Load() for value in event.summary.value}
    assert {"validation/late/loss", "test/late/loss", "learning_rate"} <= tags


def test_a_run_is_resumed_where_it_lies(workplace, bucket, store):
    where = f"{bucket}/run"
    workplace.done("train", workplace.job(epochs(1)), "--output", where)
    assert workplace.refused("train", workplace.job(epochs(1)), "--output", where).startswith(
        f"job.yaml: {where} holds another run (job, 1 checkpoint, ended: done)."
    )
    assert workplace.done("train", workplace.job(epochs(1)), "--resume", where).out.startswith(f"{where}: job is done.")
    workplace.done("train", workplace.job(epochs(2)), "--resume", where)
    start = json.loads(store.read("run/attempts/2/start.json"))
    assert (start["fresh"], start["checkpoint"]) == (False, "0000000005-1")
    workplace.done("train", workplace.job(epochs(2)), "--output", "here")
    assert store.read("run/model/weights.safetensors") == Path("here/model/weights.safetensors").read_bytes()
    workplace.done("train", workplace.job(epochs(1)), "--output", where, "--overwrite")
    assert store.list("run/attempts/") == ["3/"]


def test_other_things_in_a_bucket_are_left_alone(workplace, bucket, store):
    store.write("mine/thesis.txt", [b"my thesis"])
    message = workplace.refused("train", workplace.job(), "--output", f"{bucket}/mine")
    assert message == f"job.yaml: {bucket}/mine holds other things (thesis.txt) and no run. Give another --output."


@pytest.mark.parametrize("place", ["run", "run/model"])
def test_a_model_in_a_bucket_is_measured_and_used(workplace, bucket, store, place):
    workplace.done("train", workplace.job(), "--output", f"{bucket}/run")
    model = f"{bucket}/{place}"
    workplace.done("evaluate", workplace.job(), "--model", model, "--output", f"{bucket}/run")
    assert json.loads(store.read("run/evaluation.json"))["scores"]["late"]["loss"] > 0
    assert store.exists("run/evaluation.html")
    out = workplace.done("predict", workplace.job(), "--model", model, "--output", f"{bucket}/found/p.parquet").out
    assert out.endswith(f"{bucket}/found/p.parquet\n")
    workplace.done("predict", workplace.job(), "--model", model, "--output", "p.parquet")
    assert store.read("found/p.parquet") == Path("p.parquet").read_bytes()
    workplace.done("predict", workplace.job(), "--model", model, "--output", f"{bucket}/found")
    assert store.list("found/") == ["p.parquet", "predictions.parquet"]


def test_an_experiment_leaves_its_predictions_in_the_bucket(workplace, bucket, store):
    workplace.done("experiment", workplace.job(), "--output", f"{bucket}/run")
    (workplace.folder / "p.parquet").write_bytes(store.read("run/test_predictions.parquet"))
    assert "late_predictions" in pq.read_table("p.parquet").column_names


def test_a_model_that_is_not_there(workplace, bucket):
    assert workplace.refused("predict", workplace.job(), "--model", f"{bucket}/gone") == (
        f"job.yaml: model: there is no model folder {bucket}/gone. A model is what a run leaves in <output>/model."
    )


def test_data_of_a_bucket_without_an_output(workplace, bucket, store):
    store.write_file("data.csv", workplace.folder / "data.csv")
    workplace.done("train", workplace.job(), "--dataset", f"{bucket}/data.csv", "--output", "out")
    assert (workplace.folder / "out/model/model.json").exists()


@pytest.mark.parametrize("form", ["environment", "dictionary", "file"])
def test_no_key_is_in_anything_that_is_written(workplace, bucket, store, object_store, monkeypatch, form):
    """`object_store`'s keys are the canaries: without them nothing could be written at all."""
    store.write_file("data.csv", workplace.folder / "data.csv")
    keys = {"aws_access_key_id": object_store.key_id, "aws_secret_access_key": object_store.secret}
    given = {"dictionary": keys, "file": str(workplace.folder.parent / "keys.json")}.get(form)
    (workplace.folder.parent / "keys.json").write_text(json.dumps({"s3": {"client_kwargs": keys}}))

    def change(job):
        in_store(bucket)(job)
        if given is not None:
            job["spec"]["backend"] |= {"cache_credentials": given, "credentials": {"default": given}}

    before = every_name(store)
    job = workplace.job(change)
    if given is not None:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "not-the-key")
    out = workplace.done("experiment", job, "--json").out
    failed = workplace.run("train", job).err + workplace.run("train", job, "--output", f"{bucket}-2/a").err
    written = {name: store.read(name) for name in every_name(store) if name not in before}
    assert {name.split("/")[0] for name in written} == {"runs", "cache"}
    assert len(every_name(store, "cache/")) > 5
    outputs = [out, failed, *written, *map(repr, written.values())]
    assert not [text for text in outputs if object_store.secret in text or object_store.key_id in text]


USES = {
    "cache_credentials": "cache",
    "credentials.cache": "cache",
    "credentials.datasets": "dataset",
    "credentials.artifacts": "output",
    "credentials.default": "output",
}


@pytest.mark.parametrize("form", ["dictionary", "file"])
@pytest.mark.parametrize("use", USES)
def test_each_entry_of_keys_opens_its_place(workplace, bucket, store, object_store, monkeypatch, use, form):
    """One place is in the bucket. The keys of the environment are wrong, so that only the entry can open it."""
    store.write_file("data.csv", workplace.folder / "data.csv")
    keys = {"aws_access_key_id": object_store.key_id, "aws_secret_access_key": object_store.secret}
    (workplace.folder / "keys.json").write_text(json.dumps(keys))
    given = keys if form == "dictionary" else "keys.json"
    section, _, name = use.partition(".")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-the-key")

    def change(entry):
        def changed(job):
            job["output"] = f"{bucket}/runs" if USES[use] == "output" else "runs"
            cache = f"{bucket}/cache" if USES[use] == "cache" else "cache"
            job["backend"] = {"cache_dir": cache, **entry}
            if USES[use] == "dataset":
                job["dataset"] = f"{bucket}/data.csv"

        return changed

    job = workplace.job(change({}), name="late.yaml")
    assert "the secret does not fit the access key" in workplace.run("train", job).err
    workplace.done("train", workplace.job(change({section: {name: given} if name else given}), name="late.yaml"))
    places = {"output": "runs/late/model/", "cache": "cache/features/", "dataset": ""}
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", object_store.secret)
    assert storage_at(bucket).list(places[USES[use]])


def test_a_store_that_is_gone_is_one_line(workplace, bucket):
    message = workplace.refused("train", workplace.job(), "--output", f"{bucket}-2/run", code=3)
    assert message == f"{bucket}-2/run: there is no such bucket: did you mean {bucket.removeprefix('s3://')!r}?"


def test_a_run_in_folders_needs_no_client_of_a_store(workplace):
    code = f"""
import sys
from trainwright_trainer import train
train({workplace.job()!r}, output="out", quiet=True)
print("boto3" in sys.modules, "botocore" in sys.modules)
"""
    assert workplace.python(code).out == "False False\n"
