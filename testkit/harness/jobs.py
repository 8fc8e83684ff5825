"""TrainingJobs for tests: small ones that every check admits."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Literal

from testkit.api import Manifest

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
"""Gangs are not built yet, but a job with its own image may have one."""


def training_job(name: str, kind: Kind = "local", **spec: Any) -> Manifest:
    """A small job. `kind` selects its child: a Job, an indexed Job of two pods, or a RayJob with two workers.

    With GPUs (`gpu`), a preprocessing Job comes first, then such a RayJob.
    """
    own = {"image": IMAGE} if kind == "gang" else {}
    whole = {**copy.deepcopy(dict(SPEC)), **own, "backend": copy.deepcopy(dict(BACKENDS[kind])), **spec}
    return {"metadata": {"name": name}, "spec": whole}
