"""The one judgement of a TrainingJob as it stands in a cluster: for the webhook, and for `Accepted=False` without it.

What only a cluster can fail is checked here: whether pods reach what the job names, and whether its overlay on the pods
leaves the operator's own parts alone. `trainwright validate` tells the same as notes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from trainwright_api.checks.kuberay import kuberay_problems
from trainwright_api.checks.overlay import overlay_problems
from trainwright_api.checks.path_access import reach_problems
from trainwright_api.checks.validate import Inspected, Loaded, inspect
from trainwright_api.config import ModelConfig
from trainwright_api.problems import Mistakes, Problem
from trainwright_api.resource.backend import Backend
from trainwright_api.resource.canonical import canonical, redacted
from trainwright_api.resource.job import FIXED, TrainingJobSpec
from trainwright_api.yaml.nodes import MOST_LEVELS

_USERS_METADATA = ("name", "generateName", "namespace", "labels", "annotations")
"""The rest is the API server's, which may write more of it than this version knows."""


@dataclass(frozen=True)
class Judged:
    """What the contract says of an object: the spec where it can be run, the mistakes where it cannot."""

    spec: TrainingJobSpec | None
    message: str
    """The mistakes, as `trainwright validate` prints them. Empty where there is none."""
    warnings: tuple[str, ...]
    digest: str
    """The hash of what is fixed once a job has started: the same for specs that mean the same. Of the raw spec where it
    is not valid, and nothing where that is nested too deeply."""


def judge(raw: Mapping[str, Any], name: str | None = None) -> Judged:
    """Judges the object `raw`, which messages call `name`, by default as its metadata do. Never raises."""
    metadata = _mapping(raw.get("metadata"))
    source = name or str(metadata.get("name") or metadata.get("generateName") or "job")
    if _is_too_deep(raw):
        return Judged(None, f"{source}: nested more than {MOST_LEVELS} levels deep", (), "")
    try:
        loaded = _accepted(raw, inspect(_as_written(raw, metadata), source))
        return Judged(loaded.job.spec, "", loaded.notices, fixed_digest(loaded.job.spec))
    except Mistakes as mistakes:
        return Judged(None, mistakes.render(source), (), _hash(raw.get("spec")))


def _accepted(raw: Mapping[str, Any], found: Inspected) -> Loaded:
    """The job where it can be run here. Raises `Mistakes` with all that stands against it."""
    if _mapping(raw.get("status")).get("startTime"):
        # Its image is still that of the version that has started it.
        found = found.tolerant("it was started by another version")
    if found.loaded is not None:
        found = replace(found, mistakes=tuple(cluster_problems(found.loaded.job.spec)))
    return found.accepted_elsewhere()


def cluster_problems(spec: TrainingJobSpec) -> Iterator[Problem]:
    """What a valid job cannot do on a cluster."""
    yield from reach_problems(spec)
    yield from overlay_problems(spec)
    yield from kuberay_problems(spec)


def notes(loaded: Loaded) -> tuple[str, ...]:
    """The same for whoever validates a file that a cluster would take: it may be right for this machine."""
    return tuple(f"on a cluster: {problem}" for problem in cluster_problems(loaded.job.spec)) if loaded.whole else ()


def fixed_digest(spec: TrainingJobSpec) -> str:
    """The sha256, in hex, of what a job that has started may not change.

    Without the keys in its credentials: the hash stands in the status, and a weak key could be guessed from it.
    """
    data = redacted(spec)
    return _hash({key: data[key] for key in FIXED if key in data})


def changed(old: TrainingJobSpec, new: TrainingJobSpec) -> tuple[str, ...]:
    """What of the hashed parts is not the same in the two."""
    before, after = canonical(old), canonical(new)
    return tuple(key for key in FIXED if before.get(key) != after.get(key))


def _is_too_deep(raw: Mapping[str, Any]) -> bool:
    """A file that nests so deep is refused when it is read; here other programs have read it."""
    level: list[Any] = [raw]
    for _ in range(MOST_LEVELS):
        level = [item for value in level for item in _items(value)]
    return any(isinstance(value, Mapping | list) for value in level)


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list) else ()


def _as_written(raw: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The user's part of the object. JSON of the API server is sorted by name: mistakes are told in a file's order."""
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
