"""The objects of a job, by its backend."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.config import config_map
from trainwright_operator.children.job import indexed_job, preprocess_job, single_job
from trainwright_operator.children.network import gang_policy, ray_policy
from trainwright_operator.children.rayjob import ray_job
from trainwright_operator.children.read_child import KINDS
from trainwright_operator.children.secret import secret
from trainwright_operator.children.service import service
from trainwright_operator.model import names
from trainwright_operator.model.observed import ChildKind, Job, Manifest
from trainwright_operator.model.plan import Deletion

Builder = Callable[[ChildSpec], Manifest]

CHILDREN: Mapping[str, Builder] = MappingProxyType(
    {"local": single_job, "ray": ray_job, "deepspeed": indexed_job, "horovod": indexed_job}
)
NETWORKS: Mapping[str, tuple[Builder, ...]] = MappingProxyType(
    {"local": (), "ray": (ray_policy,), "deepspeed": (service, gang_policy), "horovod": (service, gang_policy)}
)
SUPPORTS = ("Secret", "ConfigMap", "NetworkPolicy", "Service")
"""The kinds of objects that all attempts of a job can share."""


def kind_of(backend: str) -> ChildKind:
    """Return the kind of the child that runs a backend. The preprocess stage is a Job with every backend."""
    return "RayJob" if backend == "ray" else "Job"


def supports(child_spec: ChildSpec) -> tuple[Manifest, ...]:
    """Return the objects that must exist before the first child. They are the same for every attempt."""
    keys = secret(child_spec)
    network = (build(child_spec) for build in NETWORKS[child_spec.backend])
    return (*(() if keys is None else (keys,)), config_map(child_spec), *network)


def child(child_spec: ChildSpec) -> Manifest:
    """Return the Job or RayJob of one attempt and stage."""
    return preprocess_job(child_spec) if child_spec.prepares else CHILDREN[child_spec.backend](child_spec)


def clean_up(job: Job) -> tuple[Deletion, ...]:
    """Return the deletions of all objects that a finished job can have left.

    The spec of a finished job is not kept, so some of these objects may never have existed. KubeRay gives the
    submitter's Job the name of the RayJob, and deletes it with the RayJob.
    """
    found: list[tuple[str, str]] = [] if job.status.child is None else [(kind, job.status.child) for kind in KINDS]
    common = names.common_name(job.name, job.uid)
    found += [(kind, common) for kind in SUPPORTS]
    return tuple(Deletion(kind, job.namespace, name) for kind, name in found)
