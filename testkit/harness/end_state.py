"""The final state of a namespace: the statuses without the differences between two runs, and what should be gone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from testkit.api import Api, Manifest, until
from testkit.api.resource import CHILDREN, PODS, RAY_CLUSTERS, SHARED_KINDS, TRAINING_JOBS
from trainwright_operator.model import names

IGNORED = ("activeSeconds", "gpuSeconds", "resourceVersion")
SECONDS_IN_WORDS = re.compile(r"\b[0-9]+(\.[0-9]+)? ?s\b")

NAMES_OF_PODS = re.compile(r"(-uid-[0-9]+-[a-z]+)-[-a-z0-9]+")
"""A child's name with the suffixes of its pod, which follow from the uid."""
SECONDS_TO_COLLECT = 120.0
"""The garbage collector of Kubernetes is slow after an outage of the API server."""


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
    return SECONDS_IN_WORDS.sub("N s", NAMES_OF_PODS.sub(r"\1-POD", text))


async def children(api: Api, namespace: str) -> Sequence[str]:
    return [one["metadata"]["name"] for resource in CHILDREN for one in (await api.list(resource, namespace)).items]


async def left(api: Api, namespace: str) -> Sequence[str]:
    """All objects of jobs in the namespace: children and the objects that they create, supports, pods."""
    found = []
    for resource in (*CHILDREN, RAY_CLUSTERS, PODS):
        found += [f"{resource.kind} {one['metadata']['name']}" for one in (await api.list(resource, namespace)).items]
    for resource in SHARED_KINDS:
        ours = (await api.list(resource, namespace, names.JOB_UID)).items
        found += [f"{resource.kind} {one['metadata']['name']}" for one in ours]
    return found


async def nothing_left(api: Api, namespace: str, seconds: float = SECONDS_TO_COLLECT, kept: str = "") -> None:
    """Wait for the garbage collector. `kept`: a kind that may stay."""

    async def found() -> Sequence[str]:
        return [one for one in await left(api, namespace) if not kept or not one.startswith(f"{kept} ")]

    await until(found, lambda names: not names, seconds=seconds, what=f"an empty namespace {namespace}")


async def orphans(api: Api, namespace: str | None = None) -> Sequence[str]:
    """Objects whose job no longer exists."""
    jobs = {job["metadata"]["uid"] for job in (await api.list(TRAINING_JOBS, namespace)).items}
    found = []
    for resource in (*CHILDREN, *SHARED_KINDS, PODS):
        theirs = (await api.list(resource, namespace, names.JOB_UID)).items
        left_behind = [one["metadata"] for one in theirs if one["metadata"]["labels"][names.JOB_UID] not in jobs]
        found += [f"{resource.kind} {metadata['name']}" for metadata in left_behind]
    return found
