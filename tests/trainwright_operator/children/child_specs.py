"""Child specs for tests: a valid job with the changes of a test."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.status import Resolved, TrainingJobStatus
from trainwright_operator.children import ChildSpec, child, shared_objects
from trainwright_operator.model.observed import Job
from trainwright_operator.settings import Settings

UID = "1c9e2f7a-0000-4000-8000-000000000000"
SETTINGS = Settings(progress_url="https://trainwright.ops:9443/", unreachable_seconds=20)
SPEC: Mapping[str, Any] = {
    "dataset": "s3://data/flights.parquet",
    "output": "s3://runs",
    "config": {
        "input_features": [{"name": "distance", "type": "number"}],
        "output_features": [{"name": "late", "type": "binary"}],
    },
}
BACKENDS = ("local", "ray", "deepspeed", "horovod")


def job(name: str = "flights", uid: str = UID, **status: Any) -> Job:
    return Job(
        namespace="teams",
        name=name,
        uid=uid,
        generation=1,
        resource_version="7",
        created=datetime(2026, 11, 21, tzinfo=UTC),
        deleting=False,
        suspend=False,
        ttl_seconds=None,
        ttl_policy="DeleteChildren",
        validation=None,
        status=TrainingJobStatus(**status),
    )


def child_spec(
    backend: str = "local",
    *,
    owner: Job | None = None,
    attempt: int = 1,
    stage: str = "train",
    resolved: Resolved | None = None,
    settings: Settings = SETTINGS,
    ca: str = "PEM",
    backend_keys: Mapping[str, Any] | None = None,
    **spec: Any,
) -> ChildSpec:
    """Return a child spec. `spec` replaces keys of a valid job; `backend_keys` go below `backend`."""
    section = {"type": backend, **(backend_keys or {})}
    whole = TrainingJobSpec.model_validate({**SPEC, "backend": section, **spec})
    found = resolved or Resolved(workers=1, workers_per_pod=1, gpus=0, seed=42, image="trainwright:1")
    return ChildSpec(owner or job(), whole, attempt, stage, found, settings, ca)


def sized(workers: int, per_pod: int = 1, gpus: int = 0) -> Resolved:
    return Resolved(workers=workers, workers_per_pod=per_pod, gpus=gpus, seed=42, image="trainwright:1")


def templates(made: ChildSpec) -> dict[str, dict[str, Any]]:
    """Return the templates of all pods of a child, by their role."""
    spec = child(made)["spec"]
    if "template" in spec:
        return {"trainer": spec["template"]}
    cluster = spec["rayClusterSpec"]
    return {
        "submitter": spec["submitterPodTemplate"],
        "head": cluster["headGroupSpec"]["template"],
        "worker": cluster["workerGroupSpecs"][0]["template"],
    }


def trainers(made: ChildSpec) -> dict[str, dict[str, Any]]:
    """Return the templates without the submitter's, which has no fields of the job."""
    return {role: template for role, template in templates(made).items() if role != "submitter"}


def container(template: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = template["spec"]["containers"][0]
    return found


def env(template: Mapping[str, Any]) -> dict[str, Any]:
    return {item["name"]: item.get("value", item.get("valueFrom")) for item in container(template)["env"]}


def mounts(template: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of volumes by their mount path."""
    return {item["mountPath"]: item["name"] for item in container(template).get("volumeMounts", ())}


def support(made: ChildSpec, kind: str) -> dict[str, Any]:
    return supports_of(made, kind)[0]


def supports_of(made: ChildSpec, kind: str) -> list[dict[str, Any]]:
    return [dict(manifest) for manifest in shared_objects(made) if manifest["kind"] == kind]
