"""The objects of a job, by its backend."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.config import config_map
from trainwright_operator.children.job import JOB, preprocess_job
from trainwright_operator.children.kind import Builders
from trainwright_operator.children.read_child import KINDS
from trainwright_operator.children.secret import secret
from trainwright_operator.kube.resources import SECRETS
from trainwright_operator.model import names
from trainwright_operator.model.observed import Job, Manifest
from trainwright_operator.model.plan import Deletion

SHARED_KINDS = ("Secret", "ConfigMap", "NetworkPolicy", "Service")
"""The kinds of objects that all attempts of a job can share."""
_BACKENDS: Mapping[str, tuple[str, Builders]] = MappingProxyType(
    {backend: (name, builders) for name, kind in KINDS.items() for backend, builders in kind.backends.items()}
)


def kind_of(backend: str, *, prepares: bool = False) -> str:
    """Return the kind of the child that runs a backend. A Job runs the preprocess stage of any backend.

    An unknown backend, which is no valid one, counts as a Job.
    """
    return JOB.resource.kind if prepares or backend not in _BACKENDS else _BACKENDS[backend][0]


def shared_objects(child_spec: ChildSpec) -> tuple[Manifest, ...]:
    """Return the objects that must exist before the first child. They are the same for every attempt."""
    keys = secret(child_spec)
    _, builders = _BACKENDS[child_spec.backend]
    network = (build(child_spec) for build in builders.network)
    return (*(() if keys is None else (keys,)), config_map(child_spec), *network)


def child(child_spec: ChildSpec) -> Manifest:
    """Return the manifest of the child of one attempt and stage."""
    _, builders = _BACKENDS[child_spec.backend]
    return preprocess_job(child_spec) if child_spec.prepares else builders.child(child_spec)


def clean_up(job: Job) -> tuple[Deletion, ...]:
    """Return the deletions of all objects that a finished job can have left.

    The spec of a finished job is not kept, so some of these objects may never have existed. KubeRay gives the
    submitter's Job the name of the RayJob, and deletes it with the RayJob. A Secret stays until the job is deleted: the
    operator may only create Secrets, and its owner reference deletes it.
    """
    found: list[tuple[str, str]] = (
        [] if job.status.child is None else [(kind, job.status.child) for kind in reversed(tuple(KINDS))]
    )
    common = names.common_name(job.name, job.uid)
    found += [(kind, common) for kind in SHARED_KINDS if kind != SECRETS.kind]
    return tuple(Deletion(kind, job.namespace, name) for kind, name in found)
