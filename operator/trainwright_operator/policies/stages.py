"""The phase that a new attempt begins with.

A GPU is paid for only while it trains: where GPUs are asked for and every pod finds the cache, CPUs fill it first.
What was preprocessed once is not preprocessed again.
"""

from __future__ import annotations

from trainwright_api.checks.path_access import is_shared
from trainwright_api.resource.backend import BACKENDS
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.stages import PREPROCESS, TRAINING
from trainwright_api.resource.status import Resolved, TrainingJobStatus
from trainwright_operator.model.quantities import amount


def first(spec: TrainingJobSpec, resolved: Resolved, status: TrainingJobStatus) -> str:
    """The task, or preprocess before it."""
    is_first = status.preprocessed is None and _has_data_to_prepare(spec) and _asks_for_gpus(spec, resolved)
    return PREPROCESS if is_first else spec.task


def _has_data_to_prepare(spec: TrainingJobSpec) -> bool:
    """For a cache that the pods of training find. A user's own train function prepares its data itself."""
    cache = spec.backend.cache_dir or spec.dataset  # without a folder of its own the cache lies beside the data
    return spec.task in TRAINING and spec.config is not None and cache is not None and is_shared(cache, spec)


def _asks_for_gpus(spec: TrainingJobSpec, resolved: Resolved) -> bool:
    """Where no workers are sized, the pod's overlay may ask for them."""
    if BACKENDS[spec.backend.type].sizes_workers:
        return bool(resolved.gpus)
    resources = spec.pod_template.resources if spec.pod_template else None
    limits = (resources.limits if resources else None) or {}
    return amount(limits.get(spec.gpu_resource_name, 0)) > 0
