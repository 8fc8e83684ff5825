"""A Job's status from its pods, as the Job controller writes it and the API server accepts it."""

from __future__ import annotations

from collections.abc import Sequence

from testkit.api import Manifest, condition
from testkit.api.resource import now


def of(job: Manifest, pods: Sequence[Manifest]) -> Manifest:
    """The status of a job that runs. A missing pod counts as failed."""
    wanted, known = job["spec"].get("completions", 1), job.get("status", {})
    done = [pod for pod in pods if _phase(pod) == "Succeeded"]
    live = [pod for pod in pods if not has_ended(pod) and not _is_going(pod)]
    failed = max(job["spec"].get("parallelism", 1) - len(done) - len(live), known.get("failed", 0))
    status: Manifest = {
        "startTime": known.get("startTime") or now(),
        "active": len(live) or None,
        "ready": sum(is_ready(pod) for pod in live),
        "terminating": sum(_is_going(pod) and not has_ended(pod) for pod in pods),
        "succeeded": len(done) or None,
        "failed": failed or None,
    }
    if failed:
        status["conditions"] = [*_others(job), _condition("FailureTarget", *_BACKOFF)]
    elif len(done) >= wanted:
        status["conditions"] = [*_others(job), _condition("SuccessCriteriaMet", *_REACHED)]
    elif condition(job, "Suspended") == "True":
        status["conditions"] = [_condition("Suspended", "JobResumed", "Job resumed", "False")]
    return status


def suspended(job: Manifest) -> Manifest:
    if condition(job, "Suspended") == "True":
        return {}
    return {
        "startTime": None,
        "active": None,
        "ready": 0,
        "terminating": 0,
        "conditions": [*_others(job), _condition("Suspended", "JobSuspended", "Job suspended")],
    }


def ended(job: Manifest, live: int) -> Manifest:
    """The status of a job whose end is decided; `live` pods still exist."""
    status: Manifest = {"active": None, "ready": 0, "terminating": live}
    if live:
        return status
    known: Sequence[Manifest] = job["status"]["conditions"]
    if condition(job, "SuccessCriteriaMet") == "True":
        return {**status, "completionTime": now(), "conditions": [*known, _condition("Complete", *_REACHED)]}
    return {**status, "conditions": [*known, _condition("Failed", *_BACKOFF)]}


_BACKOFF = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
_REACHED = ("CompletionsReached", "Reached expected number of succeeded pods")


def has_ended(pod: Manifest) -> bool:
    return _phase(pod) in ("Succeeded", "Failed")


def is_ready(pod: Manifest) -> bool:
    return condition(pod, "Ready") == "True"


def _phase(pod: Manifest) -> str:
    return str(pod.get("status", {}).get("phase", ""))


def _is_going(pod: Manifest) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def _others(job: Manifest) -> Sequence[Manifest]:
    return [entry for entry in job.get("status", {}).get("conditions", ()) if entry["type"] != "Suspended"]


def _condition(type_: str, reason: str, message: str, status: str = "True") -> Manifest:
    times = {"lastProbeTime": now(), "lastTransitionTime": now()}
    return {"type": type_, "status": status, "reason": reason, "message": message, **times}
