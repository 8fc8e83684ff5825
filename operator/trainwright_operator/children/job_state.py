"""Reads a batch/v1 Job: its state, the number of its pods, and its gang."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_operator.children.state import Gang, State
from trainwright_operator.model.observed import ChildState
from trainwright_operator.model.reading import condition, mapping, number, text, time


def state_of_job(raw: Mapping[str, Any]) -> State:
    spec, status = mapping(raw, "spec"), mapping(raw, "status")
    failed = condition(status, "Failed") or condition(status, "FailureTarget")
    if condition(status, "Complete"):
        return _ended("succeeded", status, {})
    if failed:
        return _ended("failed", status, failed)
    if spec.get("suspend") is True:
        return State("suspended")
    # A Job's status does not show when its pods ran: its startTime includes the wait for room.
    return State("running" if _all_run(spec, status) else "pending")


def pods_of_job(spec: Mapping[str, Any]) -> int:
    return number(spec.get("parallelism")) or 1


def gangs_of_job(spec: Mapping[str, Any]) -> tuple[Gang, ...]:
    return (Gang(spec["template"]["spec"], spec.get("parallelism", 1)),)


def _all_run(spec: Mapping[str, Any], status: Mapping[str, Any]) -> bool:
    """Return True if all pods run: a gang trains once its last pod runs. Our pods are ready when the container runs."""
    ready, succeeded = number(status.get("ready")) or 0, number(status.get("succeeded")) or 0
    return ready > 0 and ready + succeeded >= pods_of_job(spec)


def _ended(state: ChildState, status: Mapping[str, Any], why: Mapping[str, Any]) -> State:
    return State(
        state,
        started=time(status.get("startTime")),
        finished=time(status.get("completionTime")) or time(why.get("lastTransitionTime")),
        reason=text(why.get("reason")),
        message=text(why.get("message")),
    )
