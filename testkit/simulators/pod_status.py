"""Pods as the controllers create them from a template, and their statuses as the kubelet writes them."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from testkit.api import Manifest
from testkit.api.resource import Resource, now

KILLED = 143
"""The exit code of a process that SIGTERM ends."""


def running(pod: Manifest) -> Manifest:
    state = {"running": {"startedAt": now()}}
    return {
        "phase": "Running",
        "startTime": now(),
        "conditions": _conditions("True"),
        "containerStatuses": [_container(one, state, ready=True) for one in pod["spec"]["containers"]],
    }


def ended(pod: Manifest, exit_code: int, message: str = "") -> Manifest:
    state = {
        "terminated": {
            "exitCode": exit_code,
            "reason": "Completed" if exit_code == 0 else "Error",
            "message": message[:4096],
            "startedAt": pod.get("status", {}).get("startTime"),
            "finishedAt": now(),
        }
    }
    return {
        "phase": "Succeeded" if exit_code == 0 else "Failed",
        "conditions": [*_conditions("False"), *_disruptions(pod)],
        "containerStatuses": [_container(one, state, ready=False) for one in pod["spec"]["containers"]],
    }


def evicted(pod: Manifest) -> Manifest:
    message = "The node was low on resource: memory."
    disrupted = disruption("TerminationByKubelet", message)
    return {**ended(pod, 137), "reason": "Evicted", "message": message, "conditions": [disrupted]}


def disrupted(pod: Manifest, reason: str, message: str) -> Manifest:
    known: Sequence[Manifest] = pod.get("status", {}).get("conditions", ())
    others = [entry for entry in known if entry["type"] != "DisruptionTarget"]
    return {"conditions": [*others, disruption(reason, message)]}


def unreachable() -> Manifest:
    """The status by the node lifecycle controller for pods of a silent node, then by the taint manager."""
    taken = disruption("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
    return {"reason": "NodeLost", "conditions": [*_conditions("False"), taken]}


def unpullable(pod: Manifest, message: str) -> Manifest:
    state = {"waiting": {"reason": "ImagePullBackOff", "message": message}}
    return {"containerStatuses": [_container(one, state, ready=False) for one in pod["spec"]["containers"]]}


def unschedulable(message: str) -> Manifest:
    return {"conditions": [_condition("PodScheduled", "False", "Unschedulable", message)]}


def disruption(reason: str, message: str) -> Manifest:
    return _condition("DisruptionTarget", "True", reason, message)


def _conditions(ready: str) -> Sequence[Manifest]:
    states = {"PodScheduled": "True", "Initialized": "True", "ContainersReady": ready, "Ready": ready}
    return [_condition(type_, status) for type_, status in states.items()]


def _disruptions(pod: Manifest) -> Sequence[Manifest]:
    return [entry for entry in pod.get("status", {}).get("conditions", ()) if entry["type"] == "DisruptionTarget"]


def _condition(type_: str, status: str, reason: str = "", message: str = "") -> Manifest:
    named = {"reason": reason, "message": message} if reason else {}
    return {"type": type_, "status": status, "lastTransitionTime": now(), **named}


def _container(container: Manifest, state: Manifest, ready: bool) -> Manifest:
    same = {"name": container["name"], "image": container["image"], "imageID": "", "restartCount": 0}
    return {**same, "ready": ready, "started": ready, "state": state}


QUOTA = 64
"""The most pods per job, because a manual edit may request as many as the schema allows."""


def from_template(
    template: Manifest, name: str, owner: Manifest, labels: Mapping[str, str], annotations: Mapping[str, str]
) -> Manifest:
    metadata = template.get("metadata", {})
    return {
        "metadata": {
            "name": name,
            "namespace": owner["metadata"]["namespace"],
            "labels": {**metadata.get("labels", {}), **labels},
            "annotations": {**metadata.get("annotations", {}), **annotations},
            "ownerReferences": [reference(owner)],
        },
        "spec": copy.deepcopy(template["spec"]),
    }


def reference(owner: Manifest) -> Manifest:
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def suffix(*parts: Any) -> str:
    """Five characters, the same for the same parts: a retry after a lost reply does not create a second pod."""
    return hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()[:5]


def of(resource: Resource, seen: Manifest) -> Manifest:
    """The object with apiVersion and kind, which the items of a list lack."""
    return {"apiVersion": resource.api_version, "kind": resource.kind, **seen}
