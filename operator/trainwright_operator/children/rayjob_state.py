"""Reads a RayJob: its state, the number of its pods, and its gangs.

The state follows from two fields of its status. Either field alone is misleading:

jobDeploymentStatus   jobStatus           state
Complete              SUCCEEDED           succeeded
Complete              any other value     failed: a stopped Ray job also becomes Complete
Failed                any value           failed: after the loss of the head, jobStatus stays RUNNING for ever
ValidationFailed      -                   failed: KubeRay does not reconcile it again
Suspending, Suspended -                   suspended; also a RayJob with spec.suspend that has not ended
Running               RUNNING, or ended   running: the RayJob ends only when KubeRay has seen the submitter end too
any other value       -                   pending
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from trainwright_api.resource.redaction import redacted_text
from trainwright_operator.children.kind import Gang, State
from trainwright_operator.model.observed import ChildState
from trainwright_operator.model.reading import mapping, mappings, number, text, time

NOT_STARTED = ("", "PENDING")
FIRST_CHARACTERS, LAST_CHARACTERS = 1024, 4096
"""The parts of a message that are kept: KubeRay puts up to 20,000 characters of log into it."""
_EXIT_CODE = re.compile(r"failed with exit code (-?[0-9]{1,9})\b", re.ASCII)


def state_of_ray_job(raw: Mapping[str, Any]) -> State:
    status = mapping(raw, "status")
    word = text(status.get("jobStatus"))
    state = _state(text(status.get("jobDeploymentStatus")), word, mapping(raw, "spec").get("suspend") is True)
    # Redact before truncation: a truncated secret would no longer match the patterns.
    message = redacted_text(text(status.get("message")))
    ended = state in ("succeeded", "failed")
    return State(
        state,
        started=None if state in ("pending", "suspended") or word in NOT_STARTED else _started(status),
        finished=(time(status.get("endTime")) or _of_ray(status, "endTime")) if ended else None,
        exit_code=_exit_code(message) if state == "failed" else None,
        reason=text(status.get("reason")) or (word if state == "failed" else ""),
        message=_cut(message),
        log_tail=_cut(message),
    )


def pods_of_ray_job(spec: Mapping[str, Any]) -> int:
    """Return the number of pods of the cluster, without the submitter."""
    groups = mappings(mapping(spec, "rayClusterSpec").get("workerGroupSpecs"))
    return 1 + sum(number(group.get("replicas")) or 0 for group in groups)


def gangs_of_ray_job(spec: Mapping[str, Any]) -> tuple[Gang, ...]:
    cluster = spec["rayClusterSpec"]
    head = Gang(cluster["headGroupSpec"]["template"]["spec"], 1)
    workers = (Gang(group["template"]["spec"], group["replicas"]) for group in cluster["workerGroupSpecs"])
    submitter = Gang(spec["submitterPodTemplate"]["spec"], 1)
    return (*workers, head, submitter)


def _state(deployment: str, job: str, suspend: bool) -> ChildState:
    if deployment == "Complete":
        return "succeeded" if job == "SUCCEEDED" else "failed"
    if deployment in ("Failed", "ValidationFailed"):
        return "failed"
    if suspend or deployment in ("Suspending", "Suspended"):
        return "suspended"
    return "running" if deployment == "Running" and job not in NOT_STARTED else "pending"


def _started(status: Mapping[str, Any]) -> datetime | None:
    """Return the time when Ray started the job. KubeRay's own startTime includes the wait for room."""
    return _of_ray(status, "startTime") or time(status.get("startTime"))


def _of_ray(status: Mapping[str, Any], key: str) -> datetime | None:
    return time(mapping(status, "rayJobInfo").get(key))


def _exit_code(message: str) -> int | None:
    """Return the exit code in the first line, which KubeRay writes before the log. Signal n gives 128 + n, as in a
    shell."""
    found = _EXIT_CODE.search(message.partition("\n")[0])
    code = int(found[1]) if found else None
    return 128 - code if code is not None and code < 0 else code


def _cut(message: str) -> str:
    if len(message) <= FIRST_CHARACTERS + LAST_CHARACTERS:
        return message
    return f"{message[:FIRST_CHARACTERS]}\n{message[-LAST_CHARACTERS:]}"
