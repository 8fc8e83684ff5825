"""The processes that a job asks for: how many, and the resources of each. A search has one or more for each trial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_api.resource.backend import BACKENDS, BackendTrainer, WorkerRange
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.stages import HYPEROPT


def search_of(spec: TrainingJobSpec) -> Any:
    """Return the section `config.hyperopt` of a job that searches, else None."""
    return spec.config.hyperopt if spec.task == HYPEROPT and spec.config is not None else None


def workers_per_trial(spec: TrainingJobSpec) -> int:
    """Return the processes of one trial. For a job that does not search, 1."""
    asked = _trainer(spec).num_workers
    return asked if search_of(spec) is not None and isinstance(asked, int) else 1


def asked_workers(spec: TrainingJobSpec) -> int | WorkerRange | None:
    """Return the processes of the whole job. None: as many as the cluster has free GPUs for."""
    search = search_of(spec)
    if search is None:
        return _trainer(spec).num_workers
    return None if search.most_concurrent is None else search.most_concurrent * workers_per_trial(spec)


def asked_resources(spec: TrainingJobSpec) -> Mapping[str, float]:
    """Return the resources of each process, as far as the file gives them. A trial of one process has its own."""
    search = search_of(spec)
    if search is None or workers_per_trial(spec) > 1:
        return _trainer(spec).resources_per_worker or {}
    executor = search.executor
    return {"CPU": executor.cpu_resources_per_trial, "GPU": executor.gpu_resources_per_trial}


def _trainer(spec: TrainingJobSpec) -> BackendTrainer:
    """Return the section that sizes workers. On a backend where it does not act, its defaults."""
    return spec.backend.trainer if BACKENDS[spec.backend.type].sizes_workers else BackendTrainer()
