"""The final state of a namespace, without the differences between two runs of the same scenario."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from testkit.api import Api, Manifest
from testkit.api.resource import CHILDREN, SHARED_KINDS, TRAINING_JOBS
from trainwright_operator.model import names

IGNORED = ("activeSeconds", "resourceVersion")
SECONDS_IN_WORDS = re.compile(r"\b[0-9]+(\.[0-9]+)? ?s\b")


async def end_state(api: Api, namespace: str) -> Mapping[str, Any]:
    """The statuses of jobs by name, and the names of all other objects of the jobs."""
    jobs = (await api.list(TRAINING_JOBS, namespace)).items
    uids = {job["metadata"]["uid"]: job["metadata"]["name"] for job in jobs}
    state: dict[str, Any] = {
        job["metadata"]["name"]: _normal(job.get("status", {}), {**uids, namespace: "NAMESPACE"}) for job in jobs
    }
    for resource in (*CHILDREN, *SHARED_KINDS):
        found = (await api.list(resource, namespace, names.JOB_UID)).items
        state[resource.kind] = sorted(_normal(_name(one), uids) for one in found)
    return state


def _name(seen: Manifest) -> str:
    return str(seen["metadata"]["name"])


def _normal(seen: Any, words: Mapping[str, str]) -> Any:
    """Drop times, sort lists of keyed objects, and replace uids by the name of their job."""
    if isinstance(seen, dict):
        return {key: _normal(value, words) for key, value in sorted(seen.items()) if not _is_ignored(key)}
    if isinstance(seen, list):
        return sorted((_normal(one, words) for one in seen), key=str)
    return _renamed(seen, words) if isinstance(seen, str) else seen


def _is_ignored(key: str) -> bool:
    return key in IGNORED or key.endswith(("Time", "time"))


def _renamed(text: str, words: Mapping[str, str]) -> str:
    for word, name in words.items():
        text = text.replace(word, name).replace(word[:8], f"{name}-uid")
    return SECONDS_IN_WORDS.sub("N s", text)
