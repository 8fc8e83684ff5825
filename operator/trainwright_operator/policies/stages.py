"""Determines the first stage of a new attempt.

A GPU is paid for only while it trains: if the job uses GPUs and all its pods can reach the cache, pods on CPUs fill the
cache first. Data that is already preprocessed is not preprocessed again.
"""

from __future__ import annotations

from trainwright_api.checks.default_volumes import with_default_volumes
from trainwright_api.checks.path_access import is_shared
from trainwright_api.resource.backend import BACKENDS
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.quantity import amount
from trainwright_api.resource.stages import PREPROCESS, TRAINING
from trainwright_api.resource.status import Resolved, TrainingJobStatus
from trainwright_operator.children import overlay
from trainwright_operator.model.reading import mapping
from trainwright_operator.policies import pod_requests
from trainwright_operator.settings import Settings


def first(spec: TrainingJobSpec, resolved: Resolved, status: TrainingJobStatus, settings: Settings) -> str:
    """Return the task, or `preprocess` if that stage comes before it."""
    is_due = status.preprocessed is None and _has_data_to_prepare(
        with_default_volumes(spec, settings.jobs.pod_template)
    )
    return PREPROCESS if is_due and _asks_for_gpus(spec, resolved, settings) else spec.task


def _has_data_to_prepare(spec: TrainingJobSpec) -> bool:
    """True if there is data to preprocess into a cache that the training pods can reach.

    A user's own train function prepares its data itself.
    """
    cache = spec.backend.cache_dir or spec.dataset  # without its own folder, the cache is next to the data
    return spec.task in TRAINING and spec.config is not None and cache is not None and is_shared(cache, spec)


def _asks_for_gpus(spec: TrainingJobSpec, resolved: Resolved, settings: Settings) -> bool:
    """True if the job uses GPUs. If the backend has no number of workers, the pod template may request them."""
    if BACKENDS[spec.backend.type].sizes_workers:
        return bool(resolved.gpus)
    worker = overlay.asked(mapping(pod_requests.template(spec, "worker", settings), "resources"))
    return amount(worker.get(spec.gpu_resource_name, 0)) > 0
