"""The jobs of the tests, and a job's first child, created directly for tests that need no operator."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Literal

from testkit.api import Api, Manifest, Resource
from testkit.api.resource import JOBS, RAY_JOBS, TRAINING_JOBS
from trainwright_api.checks.cluster import validate_job
from trainwright_api.resource.status import Resolved
from trainwright_operator.children import builders
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.informer.trim import read_job, strip_job
from trainwright_operator.settings import Settings

Kind = Literal["local", "gang", "ray", "gpu"]
KINDS: tuple[Kind, ...] = ("local", "gang", "ray")
EVERY_KIND: tuple[Kind, ...] = (*KINDS, "gpu")

BACKENDS: Mapping[Kind, Mapping[str, Any]] = {
    "local": {"type": "local"},
    "gang": {"type": "horovod", "trainer": {"num_workers": 2}},
    "ray": {"type": "ray", "trainer": {"num_workers": 2}},
    "gpu": {
        "type": "ray",
        "cache_dir": "s3://data/cache",
        "processor": {"type": "pandas"},
        "trainer": {"num_workers": 2, "resources_per_worker": {"GPU": 1}},
    },
}
SPEC: Mapping[str, Any] = {
    "task": "train",
    "dataset": "s3://data/flights.parquet",
    "output": "s3://runs",
    "config": {
        "input_features": [{"name": "distance", "type": "number"}],
        "output_features": [{"name": "late", "type": "binary"}],
    },
}


IMAGE = "trainwright:later"
"""An image of a job, which is not that of the chart."""


def training_job(name: str, kind: Kind = "local", **spec: Any) -> Manifest:
    """A small job. `kind` selects its child: a Job, an indexed Job of two pods, or a RayJob with two workers.

    With GPUs (`gpu`), a preprocessing Job comes first, then such a RayJob.
    """
    own = {"image": IMAGE} if kind == "gang" else {}
    whole = {**copy.deepcopy(dict(SPEC)), **own, "backend": copy.deepcopy(dict(BACKENDS[kind])), **spec}
    return {"metadata": {"name": name}, "spec": whole}


async def started(api: Api, namespace: str, name: str, kind: Kind, attempt: int = 1) -> tuple[Resource, str]:
    """Create the job, if missing, and the child of an attempt. Return the child's resource and name."""
    job = await api.find(TRAINING_JOBS, name, namespace)
    job = job or await api.create(TRAINING_JOBS, training_job(name, kind), namespace)
    child = built(job, kind, attempt)
    resource = RAY_JOBS if child["kind"] == "RayJob" else JOBS
    made = await api.create(resource, child, namespace)
    return resource, made["metadata"]["name"]


def built(job: Manifest, kind: Kind, attempt: int) -> Manifest:
    read = read_job(strip_job(job), validate_job)
    assert read.validation is not None
    assert read.validation.spec is not None, read.validation.message
    workers = 1 if kind == "local" else 2
    resolved = Resolved(workers=workers, workers_per_pod=1, gpus=0)
    return dict(builders.child(ChildSpec(read, read.validation.spec, attempt, "train", resolved, Settings())))
