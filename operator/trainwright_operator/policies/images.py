"""The images of a job and the version of Ray in them. All attempts keep them, until the spec names another image."""

from __future__ import annotations

from typing import Any

from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.status import Resolved
from trainwright_operator.settings import Settings


def images(spec: TrainingJobSpec, settings: Settings) -> dict[str, Any]:
    """Return the fields of `Resolved` for a job that starts now: the image of its spec, else those of the chart."""
    return {
        "image": spec.image or settings.image,
        "cpu_image": None if spec.image else settings.cpu_image or None,
        "own_image": True if spec.image else None,
        "ray_version": settings.ray_version,
    }


def with_images(spec: TrainingJobSpec, resolved: Resolved, settings: Settings) -> Resolved:
    """Return the values for the next attempt: with the image that the spec names now, or no longer names."""
    if not spec.image and not resolved.own_image:
        return resolved
    found = images(spec, settings)
    if spec.image == resolved.image:
        found["ray_version"] = resolved.ray_version
    return resolved.model_copy(update=found)
