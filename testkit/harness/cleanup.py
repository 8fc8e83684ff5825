"""Finds objects that should be gone."""

from __future__ import annotations

from collections.abc import Sequence

from testkit.api import Api, until
from testkit.api.resource import CHILDREN, PODS, RAY_CLUSTERS, SHARED_KINDS, TRAINING_JOBS
from trainwright_operator.model import names


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


async def nothing_left(api: Api, namespace: str, seconds: float = 120.0) -> None:
    """Wait for the garbage collector, which is slow after an outage of the API server."""
    what = f"an empty namespace {namespace}"
    await until(lambda: left(api, namespace), lambda found: not found, seconds=seconds, what=what)


async def orphans(api: Api, namespace: str | None = None) -> Sequence[str]:
    """Objects whose job no longer exists."""
    jobs = {job["metadata"]["uid"] for job in (await api.list(TRAINING_JOBS, namespace)).items}
    found = []
    for resource in (*CHILDREN, *SHARED_KINDS, PODS):
        theirs = (await api.list(resource, namespace, names.JOB_UID)).items
        left_behind = [one["metadata"] for one in theirs if one["metadata"]["labels"][names.JOB_UID] not in jobs]
        found += [f"{resource.kind} {metadata['name']}" for metadata in left_behind]
    return found
