"""A job's first child as the operator builds it, created directly: for tests that need no operator."""

from __future__ import annotations

from testkit.api import Api, Manifest, Resource
from testkit.api.resource import JOBS, RAY_JOBS, TRAINING_JOBS
from testkit.harness.jobs import Kind, training_job
from trainwright_api.checks.cluster import validate_job
from trainwright_api.resource.status import Resolved
from trainwright_operator.children import builders
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.informer.trim import read_job, strip_job
from trainwright_operator.settings import Settings


async def started(api: Api, namespace: str, name: str, kind: Kind, attempt: int = 1) -> tuple[Resource, str]:
    """Create the job, if missing, and the child of an attempt. Return the child's resource and name."""
    job = await api.find(TRAINING_JOBS, name, namespace)
    job = job or await api.create(TRAINING_JOBS, training_job(name, kind), namespace)
    child = built(job, kind, attempt)
    resource = RAY_JOBS if child["kind"] == "RayJob" else JOBS
    made = await api.create(resource, child, namespace)
    return resource, made["metadata"]["name"]


def built(job: Manifest, kind: Kind, attempt: int) -> Manifest:
    read = read_job(strip_job(job), validate_job)
    assert read.validation is not None
    assert read.validation.spec is not None, read.validation.message
    workers = 1 if kind == "local" else 2
    resolved = Resolved(workers=workers, workers_per_pod=1, gpus=0)
    return dict(builders.child(ChildSpec(read, read.validation.spec, attempt, "train", resolved, Settings())))
