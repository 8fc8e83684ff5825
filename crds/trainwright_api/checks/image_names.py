"""Checks of the names of images that the kubelet would make only when a pod starts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainwright_api.problems import Problem
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.kubernetes import PodTemplate

_PART = r"[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*"
_NAME = re.compile(
    r"(?:(?:[a-zA-Z0-9][a-zA-Z0-9.-]*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?/)?"
    rf"{_PART}(?:/{_PART})*(?::\w[\w.-]{{0,127}})?(?:@[a-zA-Z0-9+._-]+:[0-9a-fA-F]{{32,}})?",
    re.ASCII,
)
"""The grammar of github.com/distribution/reference: a registry, a path in lower case, a tag and a digest."""


def image_problems(spec: TrainingJobSpec) -> Iterator[Problem]:
    """Yield a problem for each name that no registry can have."""
    yield from _problem("image", spec.image)
    for path, part in (spec.pod_template or PodTemplate()).parts():
        for position, container in enumerate(part.init_containers or []):
            yield from _problem(f"{path}.initContainers[{position}].image", container.image)


def _problem(path: str, name: str | None) -> Iterator[Problem]:
    if name is not None and not _NAME.fullmatch(name):
        expected = "expected the name of an image, as in registry.example.com/ml/trainwright:0.1.0"
        yield Problem(path, f"{expected}, found {name!r}{_hint(name)}")


def _hint(name: str) -> str:
    if "://" in name:
        return ": write it without the scheme"
    return ": its path is in lower case" if _NAME.fullmatch(name.lower()) else ""
