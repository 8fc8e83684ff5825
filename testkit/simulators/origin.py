"""The attempt and stage of a child or a pod, read from its name, which cannot be edited."""

from __future__ import annotations

import re
from typing import NamedTuple

from testkit.api import Manifest

_NAME = re.compile(r".+-[0-9a-f]{8}-(?P<attempt>[0-9]+)-(?P<stage>[a-z]+)(?:-.+)?", re.ASCII)


class Origin(NamedTuple):
    attempt: int
    stage: str


def has_origin(pod: Manifest) -> bool:
    return _NAME.fullmatch(pod["metadata"]["name"]) is not None


def origin(child_or_pod: Manifest) -> Origin:
    """Raises ValueError if neither the operator nor the child's controller gave the name."""
    name = child_or_pod["metadata"]["name"]
    found = _NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"{name} is not named after an attempt")
    return Origin(int(found["attempt"]), found["stage"])
