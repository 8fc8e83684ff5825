"""The volumes that the administrator's template gives to the pods of all jobs, beside those of a job itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.kubernetes import PodTemplate

Template = Mapping[str, Any]
"""The administrator's default of `podTemplate`, as plain data in Kubernetes' spelling."""
_FIELDS = ("volumes", "volumeMounts")


def default_volumes(template: Template) -> list[str]:
    """Return the names of the volumes of the template."""
    return [volume.name for volume in _of(template).volumes or ()]


def with_default_volumes(spec: TrainingJobSpec, template: Template) -> TrainingJobSpec:
    """Return the spec with the volumes and mounts of its pods: those of the template, and its own over them."""
    under, own = _of(template), spec.pod_template or PodTemplate()
    volumes = {one.name: one for one in (*(under.volumes or ()), *(own.volumes or ()))}
    mounts = {one.mount_path: one for one in (*(under.volume_mounts or ()), *(own.volume_mounts or ()))}
    merged = own.model_copy(update={"volumes": list(volumes.values()), "volume_mounts": list(mounts.values())})
    return spec.model_copy(update={"pod_template": merged})


def _of(template: Template) -> PodTemplate:
    return PodTemplate.model_validate({key: template[key] for key in _FIELDS if template.get(key)})
