"""What is mounted in every pod: the job, the token to post with, keys, and places to write."""

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
"""How long a token to post with is valid. The kubelet renews it long before."""
READABLE_BY_GROUP = 0o440


@dataclass(frozen=True)
class Mounted:
    """A volume of our own, and where the container finds it."""

    volume: Mapping[str, Any]
    mount: Mapping[str, Any]


def scratch() -> Mounted:
    """The root is read-only; this is where everything temporary goes."""
    return _mounted("tmp", {"emptyDir": {}}, "/tmp", writable=True)


def shared_memory() -> Mounted:
    """Without it a pod has 64 MiB at /dev/shm, where gloo, NCCL and loaders meet. KubeRay mounts its own."""
    return _mounted("shm", {"emptyDir": {"medium": "Memory"}}, "/dev/shm", writable=True)


def of_the_job(child_spec: ChildSpec) -> Iterator[Mounted]:
    """What the training program reads."""
    config = {"name": child_spec.common_name, "items": [{"key": JOB_KEY, "path": JOB_KEY}]}
    # A single file: its folder holds other mounts. The ConfigMap never changes, so nothing is missed by it.
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
