"""All that a child is made of: the job, the attempt, and what was resolved for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from trainwright_api.resource.backend import BACKENDS
from trainwright_api.resource.canonical import canonical
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.stages import comes_before
from trainwright_api.resource.status import Resolved
from trainwright_operator.model import names
from trainwright_operator.model.observed import Job
from trainwright_operator.settings import Settings

SHARES_OF_RAY_ITSELF = ("memory", "object_store_memory")
"""Shares in bytes, which Ray finds on a node by itself. What is none of these, nor CPU or GPU, is a custom resource."""


@dataclass(frozen=True)
class ChildSpec:
    """One child. The same blueprint always gives the same manifests."""

    job: Job
    spec: TrainingJobSpec
    attempt: int
    phase: str
    """What the child does: the task, or preprocess before it."""
    resolved: Resolved
    settings: Settings
    ca: str = ""
    """The certificate authority of the progress endpoint, in PEM. Empty: whatever the image trusts."""

    @property
    def name(self) -> str:
        return names.child_name(self.job.name, self.job.uid, self.attempt, self.phase)

    @property
    def common_name(self) -> str:
        """The name of what all attempts share."""
        return names.common_name(self.job.name, self.job.uid)

    @property
    def labels(self) -> Mapping[str, str]:
        """Of the child and its pods."""
        return names.labels(self.job.name, self.job.uid, self.attempt, self.phase)

    @property
    def common_labels(self) -> Mapping[str, str]:
        return names.labels(self.job.name, self.job.uid)

    @property
    def backend(self) -> str:
        return self.spec.backend.type

    @property
    def prepares(self) -> bool:
        """Whether it is the phase before the task's own: one pod of CPUs, which fills the cache."""
        return comes_before(self.phase, self.spec.task)

    @property
    def has_trainer(self) -> bool:
        """Whether `backend.trainer` acts, so that workers and GPUs are sized from it."""
        return BACKENDS[self.backend].sizes_workers

    @property
    def image(self) -> str:
        return self.resolved.image or self.spec.image or self.settings.image

    @property
    def ray_version(self) -> str:
        """Of the image, as KubeRay and the training program are told."""
        return self.spec.ray_version or self.settings.ray_version

    @property
    def run_folder(self) -> str | None:
        if self.job.status.output or not self.spec.output:
            return self.job.status.output
        return names.run_folder(self.spec.output, self.job.namespace, self.job.name, self.job.uid)

    @property
    def workers(self) -> int:
        return max(1, self.resolved.workers or 1)

    @property
    def workers_per_pod(self) -> int:
        return max(1, min(self.resolved.workers_per_pod or 1, self.workers))

    @property
    def pods(self) -> int:
        """Pods with workers. The last one may have fewer of them; it is as large as the others."""
        return math.ceil(self.workers / self.workers_per_pod)

    @property
    def resources_per_worker(self) -> Mapping[str, float]:
        """As the file says; what it leaves open is 1 CPU, and 1 GPU where GPUs were resolved."""
        shares = {"CPU": 1, "GPU": 1, **(self.spec.backend.trainer.resources_per_worker or {})}
        if not self.resolved.gpus:
            del shares["GPU"]
        return {name: share for name, share in shares.items() if share}

    @property
    def cpus_per_pod(self) -> float:
        return self._per_pod("CPU")

    @property
    def gpus_per_pod(self) -> int:
        """Whole ones: Kubernetes does not share them. Workers with half a GPU each share one within a pod."""
        return math.ceil(self._per_pod("GPU"))

    @property
    def custom_resources_per_pod(self) -> Mapping[str, float]:
        """Resources that only Ray knows."""
        own = ("CPU", "GPU", *SHARES_OF_RAY_ITSELF)
        return {name: self._per_pod(name) for name in self.resources_per_worker if name not in own}

    @cached_property
    def pod_template(self) -> Mapping[str, Any]:
        """The overlay, in Kubernetes' own spelling."""
        return {} if self.spec.pod_template is None else canonical(self.spec.pod_template)

    def _per_pod(self, resource: str) -> float:
        # Rounded, so that 1.1 × 10 is 11 and not the next float above it.
        return round(self.resources_per_worker.get(resource, 0) * self.workers_per_pod, 6)
