"""The phase of a job, and the reason why its child does not run yet. Both are for display and decide nothing."""

from __future__ import annotations

from trainwright_api.resource.status import Phase, TrainingJobStatus
from trainwright_operator.model.observed import Child, Snapshot, of_child
from trainwright_operator.model.status_builder import condition_of, end_of

CANNOT_START = "CannotStart"
"""The reason of an attempt that cannot start until a person fixes its cause, such as an image that does not exist."""
QUOTA_EXCEEDED = "QuotaExceeded"
"""The reason of an attempt whose child a ResourceQuota does not admit, such as one of the number of Jobs."""
IN_QUEUE = "WaitsInQueue"
"""The reason of an attempt whose child Kueue holds back. It takes no room, so no gang waits for it."""
_OF_A_REASON: dict[str, Phase] = {
    "Queued": "Queued",
    IN_QUEUE: "Queued",
    QUOTA_EXCEEDED: "Queued",
    "NamespaceMaximum": "Queued",
    "Invalid": "Invalid",
    "ChangedAfterStart": "Invalid",
    "ForbiddenByPolicy": "Invalid",
    "Starting": "Starting",
    CANNOT_START: "Starting",
    "Stopping": "Stopping",
}


def phase(status: TrainingJobStatus) -> Phase:
    """Derive from the conditions the word that `kubectl get` shows under PHASE."""
    end = end_of(status)
    if end is not None:
        return end
    if condition_of(status.conditions, "Suspended", "True"):
        return "Suspended"
    running = condition_of(status.conditions, "Running")
    if running and running.status == "True":
        return "Stopping" if running.reason == "Stopping" else "Running"
    if running:
        return _OF_A_REASON.get(running.reason, "Pending")
    refused = condition_of(status.conditions, "Accepted", "False")
    return "Invalid" if refused else "Pending"


def waiting(child: Child, snapshot: Snapshot) -> tuple[str, str]:
    """Return the reason, WaitsInQueue, Queued, CannotStart or Starting, and a one-line message."""
    pods = snapshot.pods
    own = [pod for pod in of_child(pods, child.attempt, child.stage) if not pod.ended]
    if child.state == "suspended":
        return IN_QUEUE, with_queue(f"{child.kind} {child.name} waits in its queue", child, snapshot)
    without_room = next((pod for pod in own if pod.unschedulable), None)
    if without_room is not None:
        return "Queued", f"pods wait for room: {without_room.unschedulable}"
    blocked = next((pod for pod in own if pod.waiting), None)
    if blocked is not None:
        return CANNOT_START, f"pod {blocked.name}: {blocked.waiting}"
    refused = child.pods_refused or snapshot.pods_refused
    if refused:
        return CANNOT_START, f"pods of {child.kind} {child.name} cannot be created: {refused}"
    return "Starting", being_started(child.kind, child.name)


def with_queue(words: str, child: Child, snapshot: Snapshot) -> str:
    """Add the text of the conditions of the child's Workload, if Kueue has written any."""
    told = snapshot.queued.get(child.uid)
    return f"{words}: {told}" if told else words


def being_started(kind: str, name: str) -> str:
    """Return one message for the whole time until the child runs: a count of pods would cost a write for each pod."""
    return f"{kind} {name} is being started"
