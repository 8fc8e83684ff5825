"""The environment variables that the operator sets in containers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainwright_api.resource import environment
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.config import CA_KEY
from trainwright_operator.children.service import RENDEZVOUS_PORT, master_address

HOME = {"HOME": "/tmp", "USER": "trainwright"}
"""The root filesystem is read-only. torch reads the user's name, and the image may not have the user id."""

WITHOUT_GPUS = {"NVIDIA_VISIBLE_DEVICES": "void"}
"""Hides GPUs: some container runtimes expose a node's GPUs to every container whose image requests them."""

_WITHOUT_CUDA = {"CUDA_VISIBLE_DEVICES": ""}
"""Hides them also where the variables of `podTemplate` expose them to all pods."""

WORKER_DRAIN_SECONDS = 30
HEAD_DRAIN_SECONDS = 45
"""The seconds in which Ray lets tasks end after a SIGTERM. All pods get it together, and the head must outlive the
rest."""
_DRAIN = "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S"


def of_the_job(child_spec: ChildSpec) -> Mapping[str, str]:
    """Return the variables for the training program, which it reads in addition to `job.yaml`."""
    return {**HOME, "PYTHONUNBUFFERED": "1", **dict(_job_variables(child_spec))}


def of_a_gang(child_spec: ChildSpec) -> Mapping[str, str]:
    """Return the rendezvous address. Kubernetes sets the index of each pod: JOB_COMPLETION_INDEX."""
    return {
        environment.MASTER_ADDRESS: master_address(child_spec),
        environment.MASTER_PORT: str(RENDEZVOUS_PORT),
    }


def of_the_stage(child_spec: ChildSpec) -> Mapping[str, str]:
    """Return the variables that hide the GPUs from the pods of the preprocess stage."""
    return _WITHOUT_CUDA if child_spec.prepares else {}


def of_a_head() -> Mapping[str, str]:
    return {_DRAIN: str(HEAD_DRAIN_SECONDS)}


def of_a_ray_worker() -> Mapping[str, str]:
    return {_DRAIN: str(WORKER_DRAIN_SECONDS)}


def _job_variables(child_spec: ChildSpec) -> Iterator[tuple[str, str]]:
    yield environment.ATTEMPT, str(child_spec.attempt)
    yield environment.UID, child_spec.job.uid
    yield environment.STAGE, child_spec.stage
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
