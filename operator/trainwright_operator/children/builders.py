"""The objects of a job, by its backend."""

from __future__ import annotations

from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.config import config_map
from trainwright_operator.children.kinds import RESOURCES, kind_for
from trainwright_operator.children.secret import secret
from trainwright_operator.kube.resources import SECRETS
from trainwright_operator.model import names
from trainwright_operator.model.observed import Job, Manifest
from trainwright_operator.model.plan import Deletion

SHARED_KINDS = ("Secret", "ConfigMap", "NetworkPolicy", "Service")
"""The kinds of objects that all attempts of a job can share."""


def shared_objects(child_spec: ChildSpec) -> tuple[Manifest, ...]:
    """Return the objects that must exist before the first child. They are the same for every attempt."""
    keys = secret(child_spec)
    network = (build(child_spec) for build in kind_for(child_spec.backend).network)
    return (*(() if keys is None else (keys,)), config_map(child_spec), *network)


def child(child_spec: ChildSpec) -> Manifest:
    """Return the manifest of the child of one attempt and stage."""
    processor = child_spec.spec.backend.processor.type if child_spec.prepares else None
    return kind_for(child_spec.backend, processor=processor).build(child_spec)


def clean_up(job: Job) -> tuple[Deletion, ...]:
    """Return the deletions of all objects that a finished job can have left.

    The spec of a finished job is not kept, so some of these objects may never have existed. KubeRay gives the
    submitter's Job the name of the RayJob, and deletes it with the RayJob. A Secret stays until the job is deleted: the
    operator may only create Secrets, and its owner reference deletes it.
    """
    found: list[tuple[str, str]] = (
        [] if job.status.child is None else [(kind, job.status.child) for kind in reversed(tuple(RESOURCES))]
    )
    common = names.common_name(job.name, job.uid)
    found += [(kind, common) for kind in SHARED_KINDS if kind != SECRETS.kind]
    return tuple(Deletion(kind, job.namespace, name) for kind, name in found)
