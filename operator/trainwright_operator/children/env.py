"""The environment that the operator gives to containers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainwright_api.resource import environment
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.config import CA_KEY
from trainwright_operator.children.service import RENDEZVOUS_PORT, master_address

HOME = {"HOME": "/tmp", "USER": "trainwright"}
"""The root is read-only, and the user id need not be one of the image's: torch asks for the user's name."""

WITHOUT_GPUS = {"NVIDIA_VISIBLE_DEVICES": "void", "CUDA_VISIBLE_DEVICES": ""}
"""A container runtime may show a node's GPUs to every container whose image asks for them."""

WORKER_DRAIN_SECONDS = 30
HEAD_DRAIN_SECONDS = 45
"""How long Ray lets tasks end after a SIGTERM. The head hears it with the workers, and must outlive them."""
_DRAIN = "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S"


def of_the_job(child_spec: ChildSpec) -> Mapping[str, str]:
    """What the training program is told beside its `job.yaml`."""
    return {**HOME, "PYTHONUNBUFFERED": "1", **dict(_told(child_spec))}


def of_a_gang(child_spec: ChildSpec) -> Mapping[str, str]:
    """Where the pods meet. Which of them it is, each hears from Kubernetes: JOB_COMPLETION_INDEX."""
    return {
        environment.MASTER_ADDRESS: master_address(child_spec),
        environment.MASTER_PORT: str(RENDEZVOUS_PORT),
    }


def of_a_head() -> Mapping[str, str]:
    return {_DRAIN: str(HEAD_DRAIN_SECONDS)}


def of_a_ray_worker() -> Mapping[str, str]:
    return {_DRAIN: str(WORKER_DRAIN_SECONDS)}


def _told(child_spec: ChildSpec) -> Iterator[tuple[str, str]]:
    yield environment.ATTEMPT, str(child_spec.attempt)
    yield environment.UID, child_spec.job.uid
    yield environment.PHASE, child_spec.phase
    yield environment.CONTRACT, str(environment.CONTRACT_VERSION)
    if child_spec.backend == "ray":
        yield environment.RAY_VERSION, child_spec.ray_version
    if child_spec.run_folder:
        yield environment.RUN, child_spec.run_folder
    yield environment.WORKERS, "1" if child_spec.prepares else str(child_spec.workers)
    yield environment.WORKERS_PER_POD, "1" if child_spec.prepares else str(child_spec.workers_per_pod)
    if child_spec.settings.progress_url:
        yield environment.PROGRESS_URL, progress_url(child_spec)
        yield environment.TOKEN_FILE, f"{environment.TOKEN_FOLDER}/token"
        if child_spec.ca:
            yield environment.CA, f"{environment.TOKEN_FOLDER}/{CA_KEY}"


def progress_url(child_spec: ChildSpec) -> str:
    base, job = child_spec.settings.progress_url.rstrip("/"), child_spec.job
    return f"{base}/v1/namespaces/{job.namespace}/jobs/{job.name}"
