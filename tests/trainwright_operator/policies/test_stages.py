"""The first stage of an attempt."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.status import Preprocessed, Resolved, TrainingJobStatus
from trainwright_operator.policies.stages import first
from trainwright_operator.settings import JobDefaults, Settings

from ..simulation import SETTINGS, SPEC

SHARED = {"cache_dir": "s3://data/cache"}


def begins(
    backend: dict[str, Any],
    gpus: int = 2,
    status: TrainingJobStatus | None = None,
    settings: Settings = SETTINGS,
    **spec: Any,
) -> str:
    whole = {key: value for key, value in {**SPEC, "backend": backend, **spec}.items() if value is not None}
    return first(TrainingJobSpec.model_validate(whole), Resolved(gpus=gpus), status or TrainingJobStatus(), settings)


@pytest.mark.parametrize("kind", ["ray", "deepspeed", "horovod"])
def test_gpus_wait_for_a_shared_cache(kind: str) -> None:
    assert begins({"type": kind, **SHARED}) == "preprocess"
    assert begins({"type": kind, **SHARED}, task="experiment") == "preprocess"


def test_without_gpus_nobody_waits() -> None:
    assert begins({"type": "ray", **SHARED}, gpus=0) == "train"


def volume(source: str, path: str) -> dict[str, Any]:
    return {
        "volumes": [{"name": "own", source: {"claimName": "own"} if source == "persistentVolumeClaim" else {}}],
        "volumeMounts": [{"name": "own", "mountPath": path}],
    }


def test_a_volume_of_all_jobs_is_shared() -> None:
    own = replace(SETTINGS, jobs=JobDefaults(volume("persistentVolumeClaim", "/cache")))
    assert begins({"type": "ray", "cache_dir": "/cache"}, settings=own) == "preprocess"
    assert begins({"type": "ray", "cache_dir": "/cache"}) == "train"


def test_without_a_shared_cache_it_would_be_done_twice() -> None:
    own = volume("emptyDir", "/cache")
    assert begins({"type": "ray", "cache_dir": "/cache"}, podTemplate=own) == "train"


@pytest.mark.parametrize(
    ("dataset", "source", "stage"),
    [
        ("s3://data/flights.parquet", "emptyDir", "preprocess"),
        ("/data/flights.parquet", "persistentVolumeClaim", "preprocess"),
        ("/data/flights.parquet", "hostPath", "train"),
    ],
)
def test_a_cache_without_a_folder_of_its_own_is_shared_as_its_data_are(dataset: str, source: str, stage: str) -> None:
    assert begins({"type": "ray"}, dataset=dataset, podTemplate=volume(source, "/data")) == stage


def test_what_was_done_is_not_done_again() -> None:
    done = TrainingJobStatus(preprocessed=Preprocessed(attempt=1))
    assert begins({"type": "ray", **SHARED}, status=done) == "train"


def test_other_tasks_and_own_functions_have_one_stage() -> None:
    model = {"config": None, "model": "s3://runs/model"}
    assert begins({"type": "ray", **SHARED}, task="predict", **model) == "predict"
    assert begins({"type": "ray", **SHARED}, task="preprocess") == "preprocess"
    function = {"config": None, "entrypoint": {"module": "mine", "function": "main"}}
    assert begins({"type": "ray", **SHARED}, **function) == "train"


@pytest.mark.parametrize(("asked", "stage"), [("1", "preprocess"), (1, "preprocess"), ("0", "train"), (None, "train")])
def test_a_local_job_asks_for_gpus_in_its_pod_template(asked: Any, stage: str) -> None:
    limits = {"memory": "8Gi"} if asked is None else {"nvidia.com/gpu": asked}
    assert begins({"type": "local", **SHARED}, 0, podTemplate={"resources": {"limits": limits}}) == stage


def test_a_request_without_a_limit_and_the_defaults_of_the_chart_ask_for_gpus_too() -> None:
    asked = {"resources": {"requests": {"nvidia.com/gpu": 1}}}
    assert begins({"type": "local", **SHARED}, 0, podTemplate=asked) == "preprocess"
    defaults = replace(SETTINGS, jobs=JobDefaults(pod_template={"worker": asked}))
    assert begins({"type": "local", **SHARED}, 0, settings=defaults) == "preprocess"
    none = {"resources": {"limits": {"nvidia.com/gpu": 0}}}
    assert begins({"type": "local", **SHARED}, 0, settings=defaults, podTemplate=none) == "train"


def test_where_workers_are_sized_the_pod_template_asks_for_no_gpu() -> None:
    asked = {"resources": {"limits": {"nvidia.com/gpu": 1}}}
    assert begins({"type": "ray", "trainer": {"use_gpu": False}, **SHARED}, 0, podTemplate=asked) == "train"
