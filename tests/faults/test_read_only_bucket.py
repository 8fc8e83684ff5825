"""A bucket in which the keys may read and not write: one line before the work, and what can be read is used."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

import pytest
from testkit.store_proxy import FOREVER, StoreFault, StoreProxy

from trainwright_trainer.data import source
from trainwright_trainer.storage.location import S3Uri
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.storage.s3client.client import client_of
from trainwright_trainer.storage.s3client.credentials import from_environment
from trainwright_trainer.tasks import evaluate, predict

ENVIRONMENT = 3
READ = ("s3:GetObject", "s3:ListBucket")
ADVICE = "; use keys that may write and delete, or another place"
S3_SAYS = f"no permission to delete (DeleteObject; the store says AccessDenied){ADVICE}"
GOOGLE_SAYS = "ml@lab.iam does not have storage.objects.delete access to the Google Cloud Storage object."


@pytest.fixture
def allow(object_store, monkeypatch):
    """Change the keys of the environment to those of a user with these rights in a bucket."""

    def allow(bucket, *rights):
        name, key_id, secret = (
            S3Uri.parse(bucket, "output").bucket,
            f"user-{secrets.token_hex(6)}",
            secrets.token_hex(9),
        )
        object_store.add_user(key_id, secret)
        about = [f"arn:aws:s3:::{name}", f"arn:aws:s3:::{name}/*"]
        rule = {"Effect": "Allow", "Principal": {"AWS": [key_id]}, "Action": list(rights), "Resource": about}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [rule]})
        client_of(from_environment()).put_bucket_policy(Bucket=name, Policy=policy)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", key_id)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)

    return allow


@pytest.fixture(params=["s3", "gs"])
def closed(request, workplace, monkeypatch):
    """A bucket that holds data and a model, and the store's answer to writes."""
    bucket = request.getfixturevalue("bucket" if request.param == "s3" else "google_bucket")
    storage_at(bucket).write_file("data.csv", Path("data.csv"))
    workplace.run("train", workplace.job(), "--output", f"{bucket}/runs/m")
    if request.param == "s3":
        request.getfixturevalue("allow")(bucket, *READ)
        yield bucket, S3_SAYS
        return
    answer = json.dumps({"error": {"code": 403, "message": GOOGLE_SAYS}})
    with StoreProxy(request.getfixturevalue("google_store").address) as proxy:
        proxy.add(StoreFault(("POST", "PUT", "DELETE"), times=FOREVER, code=403, content=answer))
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", proxy.url)
        yield bucket, f"no permission to delete (the store says 403: {GOOGLE_SAYS}){ADVICE}"


def never(*_, **__):
    raise AssertionError("the work begins before the place is checked")


def test_a_run_is_refused_before_its_data_are_read(workplace, closed, monkeypatch):
    bucket, says = closed
    monkeypatch.setattr(source, "blocks", never)
    before = sorted(storage_at(bucket).list_tree())
    advice = "Set backend.cache_dir to a place that can be written."
    job = workplace.job(lambda job: job.update(backend={"cache_dir": f"{bucket}/cache"}), name="cached.yaml")
    for words in (("train", job, "--output", "run"), ("preprocess", job)):
        line = workplace.refused(*words, code=ENVIRONMENT)
        assert line == f"the cache cannot be written to {bucket}/cache: {says}. {advice}"
    line = workplace.refused("train", workplace.job(), "--output", f"{bucket}/run", code=ENVIRONMENT)
    assert line == f"{bucket}/run: {says}"
    assert sorted(storage_at(bucket).list_tree()) == before


def test_a_model_is_used_where_it_lies_and_its_results_go_elsewhere(workplace, closed, monkeypatch):
    bucket, says = closed
    words = ("--model", f"{bucket}/runs/m", "--dataset", "data.csv")
    workplace.done("predict", *words, "--output", "here")
    workplace.done("export", f"{bucket}/runs/m", "--format", "safetensors", "--output", "there")
    monkeypatch.setattr(predict, "_predicted", never)
    monkeypatch.setattr(evaluate, "_scored", never)
    for task in ("predict", "evaluate"):
        assert workplace.refused(task, *words, "--output", f"{bucket}/new", code=ENVIRONMENT) == f"{bucket}/new: {says}"
    line = workplace.refused("export", f"{bucket}/runs/m", "--format", "safetensors", code=ENVIRONMENT)
    assert line == f"{bucket}/runs/m/export/safetensors: {says}"


def test_a_cache_is_read_and_not_pruned(workplace, bucket, allow):
    job = workplace.job(lambda job: job.update(backend={"cache_dir": f"{bucket}/cache"}))
    workplace.done("preprocess", job)
    allow(bucket, *READ)
    before = sorted(storage_at(bucket).list_tree())
    workplace.run("train", job, "--output", "run")
    assert Path("run/model/model.json").exists()
    workplace.done("cache", "verify", f"{bucket}/cache")
    line = workplace.refused("cache", "prune", f"{bucket}/cache", "--max-bytes", "0", code=ENVIRONMENT)
    assert line.startswith(f"{bucket}/cache/")
    assert line.endswith(S3_SAYS)
    assert sorted(storage_at(bucket).list_tree()) == before


def test_data_there_need_a_cache_elsewhere(workplace, bucket, allow, monkeypatch):
    storage_at(bucket).write_file("data.csv", Path("data.csv"))
    allow(bucket, *READ)
    monkeypatch.setattr(source, "blocks", never)
    line = workplace.refused("preprocess", workplace.job(), "--dataset", f"{bucket}/data.csv", code=ENVIRONMENT)
    begin = f"the cache cannot be written to {bucket}/.trainwright_cache: {S3_SAYS}. "
    assert line == begin + "Set backend.cache_dir to a place that can be written."


def test_keys_that_may_write_and_not_delete_leave_no_probe(workplace, bucket, allow):
    allow(bucket, *READ, "s3:PutObject")
    line = workplace.refused("train", workplace.job(), "--output", f"{bucket}/run", code=ENVIRONMENT)
    assert line == f"{bucket}/run: {S3_SAYS}"
    assert storage_at(bucket).list_tree() == []
