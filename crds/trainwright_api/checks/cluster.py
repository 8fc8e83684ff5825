"""Validates a TrainingJob of a cluster, for the webhook, and for `Accepted=False` without the webhook.

In addition to the checks of a file, this module checks that pods can reach every path of the job, that `podTemplate`
does not touch the operator's own parts, and the rules of KubeRay. `trainwright validate` prints the same as notes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from trainwright_api.checks.default_volumes import Template, default_volumes, with_default_volumes
from trainwright_api.checks.image_names import image_problems
from trainwright_api.checks.kuberay import kuberay_problems
from trainwright_api.checks.overlay import overlay_problems
from trainwright_api.checks.path_access import reach_problems
from trainwright_api.checks.pod_resources import resource_problems
from trainwright_api.checks.validate import Inspected, Loaded, Options, inspect
from trainwright_api.config import ModelConfig
from trainwright_api.problems import Mistakes, Problem
from trainwright_api.resource.backend import Backend
from trainwright_api.resource.canonical import canonical, redacted
from trainwright_api.resource.job import FIXED, TrainingJobSpec
from trainwright_api.yaml.nodes import MOST_LEVELS

OPEN_BACKEND = "backend.type is missing: ray if KubeRay is installed, else local"
_USERS_METADATA = ("name", "generateName", "namespace", "labels", "annotations")
"""The user's metadata fields. The API server writes the others, possibly some that this version does not know."""


@dataclass(frozen=True)
class ValidationResult:
    """The result of validating an object: the spec of a valid job, or the mistakes."""

    spec: TrainingJobSpec | None
    digest: str
    """The hash of the fields that are fixed once a job has started; equal for equivalent specs. For an invalid spec,
    the hash of the raw spec. Empty if the object is nested too deeply."""
    message: str = ""
    """The mistakes, as `trainwright validate` prints them. Empty for a valid job."""
    warnings: tuple[str, ...] = ()


def validate_job(
    raw: Mapping[str, Any], name: str | None = None, *, template: Template = MappingProxyType({})
) -> ValidationResult:
    """Validate the object `raw`. Messages use `name`, by default the name in the metadata. Never raises.

    `template`: the administrator's default of `podTemplate`.
    """
    metadata = _mapping(raw.get("metadata"))
    source = name or str(metadata.get("name") or metadata.get("generateName") or "job")
    if _is_too_deep(raw):
        return ValidationResult(None, "", f"{source}: nested more than {MOST_LEVELS} levels deep")
    try:
        found = inspect(_as_written(raw, metadata), source, options=Options(keeps_open=True))
        loaded = _accepted(raw, found, template)
        return ValidationResult(loaded.job.spec, fixed_digest(loaded.job.spec), "", tuple(loaded.notices))
    except Mistakes as mistakes:
        return ValidationResult(None, _hash(raw.get("spec")), mistakes.render(source))


def _accepted(raw: Mapping[str, Any], found: Inspected, template: Template) -> Loaded:
    """Return the job if this cluster can run it. Raises `Mistakes` with all mistakes."""
    if _mapping(raw.get("status")).get("startTime") and not found.image:
        # The job still runs the image of the version that started it. With its own image the notice stays the same.
        found = found.tolerant("it was started by another version")
    if found.loaded is not None:
        found = replace(found, mistakes=tuple(cluster_problems(found.loaded.job.spec, template)))
    return found.accepted_elsewhere()


def cluster_problems(spec: TrainingJobSpec, template: Template = MappingProxyType({})) -> Iterator[Problem]:
    """Yield the reasons why a valid job cannot run on a cluster with this default of `podTemplate`."""
    yield from reach_problems(with_default_volumes(spec, template))
    yield from overlay_problems(spec, default_volumes(template))
    yield from resource_problems(spec)
    yield from image_problems(spec)
    yield from kuberay_problems(spec)


def notes(loaded: Loaded) -> tuple[str, ...]:
    """Return the problems as notes for `trainwright validate`: the file may be valid for this machine."""
    if not loaded.whole:
        return ()
    found = cluster_problems(loaded.job.spec.model_copy(update={"backend": loaded.declared}))
    opened = (OPEN_BACKEND,) if loaded.declared.is_open else ()
    return tuple(f"on a cluster: {line}" for line in (*opened, *found))


def fixed_digest(spec: TrainingJobSpec) -> str:
    """Return the sha256, in hex, of the fields that are fixed once a job has started.

    It excludes inline credentials: the hash is in the status, and a weak secret could be guessed from it.
    """
    data = redacted(spec)
    return _hash({key: data[key] for key in FIXED if key in data})


def changed(old: TrainingJobSpec, new: TrainingJobSpec) -> tuple[str, ...]:
    """Return the fixed fields that differ."""
    before, after = canonical(old), canonical(new)
    return tuple(key for key in FIXED if before.get(key) != after.get(key))


def _is_too_deep(raw: Mapping[str, Any]) -> bool:
    """Return True if the object is nested too deeply. For files the YAML reader checks this; here others parsed it."""
    level: list[Any] = [raw]
    for _ in range(MOST_LEVELS):
        level = [item for value in level for item in _items(value)]
    return any(isinstance(value, Mapping | list) for value in level)


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list) else ()


def _as_written(raw: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the user's part of the object. The API server sorts keys by name; messages need the order of a file."""
    written = {key: value for key, value in raw.items() if key not in ("metadata", "status")}
    if isinstance(raw.get("spec"), Mapping):
        spec = _sorted_like(raw["spec"], TrainingJobSpec.known_keys())
        for key, known in (("config", ModelConfig.known_keys()), ("backend", Backend.known_keys())):
            if isinstance(spec.get(key), Mapping):
                spec[key] = _sorted_like(spec[key], known)
        written["spec"] = spec
    return {**written, "metadata": {key: metadata[key] for key in _USERS_METADATA if key in metadata}}


def _sorted_like(section: Mapping[str, Any], order: tuple[str, ...]) -> dict[str, Any]:
    known = {key: section[key] for key in order if key in section}
    return {**known, **{key: value for key, value in section.items() if key not in known}}


def _hash(data: Any) -> str:
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
