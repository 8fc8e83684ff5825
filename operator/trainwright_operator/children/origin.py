"""The origin of an object: its job, attempt and stage."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainwright_api.resource.job import API_VERSION, KIND
from trainwright_operator.model import names
from trainwright_operator.model.observed import Owner
from trainwright_operator.model.reading import mapping, mappings, text

_GROUP = API_VERSION.partition("/")[0]
_COUNT = re.compile(r"[0-9]{1,9}", re.ASCII)
_NAME = re.compile(r".*-([0-9a-z-]{8})-([0-9]{1,9})-([a-z]+)", re.ASCII)


@dataclass(frozen=True)
class Origin:
    job_uid: str
    attempt: int
    stage: str


def origin_of_child(raw: Mapping[str, Any]) -> Origin | None:
    """Return the origin of a child, or None if no TrainingJob owns it.

    The owner reference gives the job. The name, which is immutable, gives attempt and stage.
    """
    metadata = mapping(raw, "metadata")
    owner = controller_of(metadata)
    if owner is None or (owner.kind, owner.group) != (KIND, _GROUP):
        return None
    named = _NAME.fullmatch(text(metadata.get("name")))
    return Origin(owner.uid, int(named[2]), named[3]) if named and named[1] == owner.uid[:8] else None


def attempt_of(labels: Mapping[str, Any]) -> int | None:
    found = text(labels.get(names.ATTEMPT))
    return int(found) if _COUNT.fullmatch(found) else None


def controller_of(metadata: Mapping[str, Any]) -> Owner | None:
    """Return the owner that controls the object, None if there is none."""
    for owner in mappings(metadata.get("ownerReferences")):
        if owner.get("controller") is True:
            group = text(owner.get("apiVersion")).rpartition("/")[0]
            return Owner(text(owner.get("kind")), group, text(owner.get("name")), text(owner.get("uid")))
    return None
