"""The child spec: the job, the attempt, and the values resolved for it, from which a child is built."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from trainwright_api.resource.backend import BACKENDS, custom
from trainwright_api.resource.canonical import canonical
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.quantity import devices
from trainwright_api.resource.size import asked_resources
from trainwright_api.resource.stages import backend_of_pods, comes_before
from trainwright_api.resource.status import Resolved
from trainwright_operator.children.overlay import Role, Template, asked, template_of
from trainwright_operator.model import names
from trainwright_operator.model.observed import Job
from trainwright_operator.settings import Settings


def has_devices(resources: Mapping[str, Any]) -> bool:
    """Return True if a container with these resources gets a GPU or another device."""
    return bool(resources.get("claims") or devices(asked(resources)))


@dataclass(frozen=True)
class ChildSpec:
    """The specification of one child. Equal child specs give equal manifests."""

    job: Job
    spec: TrainingJobSpec
    attempt: int
    stage: str
    """The stage that the child runs: the task, or preprocess before it."""
    resolved: Resolved
    settings: Settings
    ca: str = ""
    """The CAs of the progress endpoint, as PEM. Empty: the CAs that the image trusts."""

    @property
    def name(self) -> str:
        return names.child_name(self.job.name, self.job.uid, self.attempt, self.stage)

    @property
    def common_name(self) -> str:
        """The name of the objects that all attempts share."""
        return names.common_name(self.job.name, self.job.uid)

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of the child and its pods."""
        return names.labels(self.job.name, self.job.uid, self.attempt, self.stage)

    @property
    def common_labels(self) -> Mapping[str, str]:
        return names.labels(self.job.name, self.job.uid)

    @property
    def backend(self) -> str:
        return backend_of_pods(self.spec.task, self.spec.backend.type)

    @property
    def prepares(self) -> bool:
        """True for the stage before the task's own: pods without GPUs, which fill the cache."""
        return comes_before(self.stage, self.spec.task)

    @property
    def role(self) -> Role:
        """The role of the pods that do the work of the stage."""
        return "preprocess" if self.prepares else "worker"

    @property
    def has_trainer(self) -> bool:
        """True if `backend.trainer` applies, so that it sizes workers and GPUs."""
        return BACKENDS[self.backend].sizes_workers

    def image_for(self, resources: Mapping[str, Any]) -> str:
        """Return the image of a container with these resources. One without devices needs no libraries of a GPU."""
        image = self.resolved.image or self.spec.image or self.settings.image
        return image if has_devices(resources) else self.resolved.cpu_image or image

    @property
    def ray_version(self) -> str:
        """The version of Ray in the image, for KubeRay and the training program."""
        return self.spec.ray_version or self.resolved.ray_version or self.settings.ray_version

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
        """The number of pods with workers. The last pod may have fewer workers; it reserves as much as the others."""
        return math.ceil(self.workers / self.workers_per_pod)

    @property
    def resources_per_worker(self) -> Mapping[str, float]:
        """The resources of the job's file. Defaults: 1 CPU, and 1 GPU if the job resolved to GPUs."""
        shares = {"CPU": 1, "GPU": 1, **asked_resources(self.spec)}
        if not self.resolved.gpus:
            del shares["GPU"]
        return {name: share for name, share in shares.items() if share}

    @property
    def cpus_per_pod(self) -> float:
        return self._per_pod("CPU")

    @property
    def gpus_per_pod(self) -> int:
        """Whole GPUs, because Kubernetes does not share them. Two workers with half a GPU share one within a pod."""
        return math.ceil(self._per_pod("GPU"))

    @property
    def custom_resources_per_pod(self) -> Mapping[str, float]:
        """The custom resources per pod, which only Ray knows."""
        return {name: self._per_pod(name) for name in custom(self.resources_per_worker)}

    @cached_property
    def _pod_template(self) -> Template:
        """`spec.podTemplate` in Kubernetes' spelling."""
        return {} if self.spec.pod_template is None else canonical(self.spec.pod_template)

    def template(self, role: Role) -> Template:
        """Return the overlay on the pods of a role, with the administrator's defaults."""
        return template_of(role, self.settings.jobs.pod_template, self._pod_template)

    def _per_pod(self, resource: str) -> float:
        # Rounded, so that 1.1 × 10 is 11 and not the next float above it.
        return round(self.resources_per_worker.get(resource, 0) * self.workers_per_pod, 6)
