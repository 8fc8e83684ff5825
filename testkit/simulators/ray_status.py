"""A RayJob's status at each step, in KubeRay's terms."""

from __future__ import annotations

from testkit.api import Manifest, condition
from testkit.api.resource import now
from testkit.simulators.pod_status import suffix
from testkit.simulators.scripts import Fail, Script


def initializing(job: Manifest) -> Manifest:
    """The names are new after each resume."""
    name, uid = job["metadata"]["name"], job["metadata"]["uid"]
    generation = job["metadata"]["generation"]
    return {
        "jobId": f"{name}-{suffix(uid, generation, 'job')}",
        "rayClusterName": f"{name}-{suffix(uid, generation, 'cluster')}",
        "jobStatus": "",
        "jobDeploymentStatus": "Initializing",
        "startTime": now(),
        "failed": job.get("status", {}).get("failed", 0),
        "succeeded": 0,
    }


def dashboard(job: Manifest) -> str:
    return f"{job['status']['rayClusterName']}-head-svc.{job['metadata']['namespace']}.svc.cluster.local:8265"


def running(job_status: str) -> Manifest:
    started = {"rayJobInfo": {"startTime": now()}} if job_status == "RUNNING" else {}
    return {"jobStatus": job_status, **started}


def succeeded(job: Manifest) -> Manifest:
    return {
        "jobStatus": "SUCCEEDED",
        "jobDeploymentStatus": "Complete",
        "message": "Job finished successfully.",
        "endTime": now(),
        "succeeded": job["status"].get("succeeded", 0) + 1,
    }


def failed(job: Manifest, script: Script) -> Manifest:
    """The entrypoint failed, and Ray reports it."""
    exit_code, log = (script.exit_code, script.log) if isinstance(script, Fail) else (75, "stopped on request")
    message = (
        f"Job entrypoint command failed with exit code {exit_code}, "
        f"last available logs (truncated to 20,000 chars):\n{log}"
    )
    return {**_ended(job, "AppFailed", message), "jobStatus": "FAILED"}


def submission_failed(job: Manifest, submitter: Manifest) -> Manifest:
    """The submitter ended without a reason from Ray: `jobStatus` stays as it was, forever."""
    assert condition(submitter, "Failed") == "True"
    failure = next(entry for entry in submitter["status"]["conditions"] if entry["type"] == "Failed")
    message = f"Job submission has failed. Reason: {failure['reason']}. Message: {failure['message']}"
    return _ended(job, "SubmissionFailed", message)


def invalid(message: str) -> Manifest:
    return {"jobDeploymentStatus": "ValidationFailed", "reason": "ValidationFailed", "message": message}


def suspended() -> Manifest:
    nothing = dict.fromkeys(("jobId", "rayClusterName", "dashboardURL", "message", "reason", "startTime", "endTime"))
    return {**nothing, "jobStatus": "", "jobDeploymentStatus": "Suspended"}


def _ended(job: Manifest, reason: str, message: str) -> Manifest:
    return {
        "jobDeploymentStatus": "Failed",
        "reason": reason,
        "message": message,
        "endTime": now(),
        "failed": job["status"].get("failed", 0) + 1,
    }
