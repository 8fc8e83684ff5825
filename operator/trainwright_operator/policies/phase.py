"""The phase of a job, for display. It is derived from the conditions and never decides anything."""

from __future__ import annotations

from trainwright_api.resource.status import Phase, TrainingJobStatus
from trainwright_operator.model.status_builder import condition_of, end_of

_OF_A_REASON: dict[str, Phase] = {"Queued": "Queued", "Starting": "Starting", "Stopping": "Stopping"}


def phase(status: TrainingJobStatus) -> Phase:
    """Return the word that `kubectl get` shows under PHASE."""
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
