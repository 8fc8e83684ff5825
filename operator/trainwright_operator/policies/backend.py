"""The backend of a job whose file names none: it is chosen once, and `status.resolved` keeps it for all attempts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.stages import backend_of_pods
from trainwright_operator.children import kind_for
from trainwright_operator.model.reading import mapping, text

WITHOUT_KUBERAY = "KubeRay is not installed, so backend.trainer does not act"


def chosen(spec: TrainingJobSpec, missing_kinds: Collection[str]) -> str | None:
    """Return the backend of a job that leaves it open, for a cluster without these kinds of children.

    None: the file decides, or the task runs in one pod with any backend.
    """
    if not spec.backend.is_open or backend_of_pods(spec.task, "ray") != "ray":
        return None
    return "local" if kind_for("ray").missing(missing_kinds) else "ray"


def with_backend(spec: TrainingJobSpec, chosen: str | None) -> TrainingJobSpec:
    """Return the spec with the chosen backend.

    For `local` it is unchanged: the pods read the missing type as local too, and take the global batch from the
    workers of the file.
    """
    return spec.with_kuberay if chosen == "ray" else spec


def backend_of(spec: Mapping[str, Any], resolved: Mapping[str, Any]) -> str:
    """Return the backend of a stored job: that of its file, else the one that was chosen, else local."""
    return text(mapping(spec, "backend").get("type")) or text(resolved.get("backend")) or "local"
