"""The volumes of every pod: the job, the token for progress posts, credentials, and writable directories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainwright_api.resource.environment import (
    AUDIENCE,
    CACHE_CREDENTIALS_FOLDER,
    CREDENTIALS_FOLDER,
    JOB_FILE,
    OWN_VOLUMES,
    TOKEN_FOLDER,
)
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.config import CA_KEY, JOB_KEY
from trainwright_operator.children.secret import dictionaries

TOKEN_SECONDS = 3600
"""The validity of a token for progress posts, in seconds. The kubelet renews it long before."""
READABLE_BY_GROUP = 0o440


@dataclass(frozen=True)
class Mounted:
    """A volume of the operator and its mount in the container."""

    volume: Mapping[str, Any]
    mount: Mapping[str, Any]


def scratch() -> Mounted:
    """Return the volume for temporary files, because the root filesystem is read-only."""
    return _mounted("tmp", {"emptyDir": {}}, "/tmp", writable=True)


def shared_memory() -> Mounted:
    """Return a volume at /dev/shm for Ray's objects, gloo, NCCL and data loaders, up to the pod's memory limit.

    The default has 64 MiB. KubeRay's, which it leaves out for this one, has the memory request if there is no limit. A
    store of objects that does not fit there is on the disk.
    """
    return _mounted("shm", {"emptyDir": {"medium": "Memory"}}, "/dev/shm", writable=True)


def of_the_job(child_spec: ChildSpec) -> Iterator[Mounted]:
    """Yield the volumes that the training program reads."""
    config = {"name": child_spec.common_name, "items": [{"key": JOB_KEY, "path": JOB_KEY}]}
    # A subPath mount of one file, because its folder has other mounts. It gets no updates; the ConfigMap is immutable.
    yield _mounted("job", {"configMap": config}, JOB_FILE, subPath=JOB_KEY)
    if child_spec.settings.progress_url:
        yield _mounted("token", {"projected": {"sources": list(_token(child_spec))}}, TOKEN_FOLDER)
    if child_spec.spec.credentials:
        name = child_spec.spec.credentials.secret_name
        yield _mounted("credentials", _secret(name), CREDENTIALS_FOLDER)
    if dictionaries(child_spec.spec.backend):
        yield _mounted("cache-credentials", _secret(child_spec.common_name), CACHE_CREDENTIALS_FOLDER)


def _token(child_spec: ChildSpec) -> Iterator[dict[str, Any]]:
    token = {"audience": AUDIENCE, "expirationSeconds": TOKEN_SECONDS, "path": "token"}
    yield {"serviceAccountToken": token}
    if child_spec.ca:
        yield {"configMap": {"name": child_spec.common_name, "items": [{"key": CA_KEY, "path": CA_KEY}]}}


def _secret(name: str) -> dict[str, Any]:
    return {"secret": {"secretName": name, "defaultMode": READABLE_BY_GROUP}}


def _mounted(name: str, source: Mapping[str, Any], path: str, *, writable: bool = False, **extra: Any) -> Mounted:
    own = f"{OWN_VOLUMES}{name}"
    mount = {"name": own, "mountPath": path, **extra}
    return Mounted({"name": own, **source}, mount if writable else {**mount, "readOnly": True})
