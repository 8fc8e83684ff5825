"""The origin of an object: its job, attempt and stage."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainwright_api.resource.job import API_VERSION, KIND
from trainwright_operator.model import names
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

    The owner reference gives the job. The name, which is immutable, gives attempt and stage; the labels are a fallback.
    """
    metadata = mapping(raw, "metadata")
    uid = _owner(metadata)
    if not uid:
        return None
    named = _NAME.fullmatch(text(metadata.get("name")))
    if named and named[1] == uid[:8]:
        return Origin(uid, int(named[2]), named[3])
    labels = mapping(metadata, "labels")
    attempt = attempt_of(labels)
    return None if attempt is None else Origin(uid, attempt, text(labels.get(names.STAGE)))


def attempt_of(labels: Mapping[str, Any]) -> int | None:
    found = text(labels.get(names.ATTEMPT))
    return int(found) if _COUNT.fullmatch(found) else None


def _owner(metadata: Mapping[str, Any]) -> str:
    for owner in mappings(metadata.get("ownerReferences")):
        group = text(owner.get("apiVersion")).partition("/")[0]
        if owner.get("controller") is True and owner.get("kind") == KIND and group == _GROUP:
            return text(owner.get("uid"))
    return ""
