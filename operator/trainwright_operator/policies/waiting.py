"""The reason why a child does not run yet: it waits for room, or it is being started."""

from __future__ import annotations

from trainwright_operator.model.observed import Child, Pod, of_child


def waiting(child: Child, pods: tuple[Pod, ...]) -> tuple[str, str]:
    """Return the reason, Queued or Starting, and a one-line message."""
    own = [pod for pod in of_child(pods, child.attempt, child.phase) if not pod.ended]
    if child.state == "suspended":
        return "Queued", f"{child.kind} {child.name} waits in its queue"
    without_room = next((pod for pod in own if pod.unschedulable), None)
    if without_room is not None:
        return "Queued", f"pods wait for room: {without_room.unschedulable}"
    held_up = next((pod for pod in own if pod.waiting), None)
    if held_up is not None:
        return "Starting", f"pod {held_up.name}: {held_up.waiting}"
    return "Starting", being_started(child.kind, child.name)


def being_started(kind: str, name: str) -> str:
    """Return one message for the whole time until the child runs: a count of pods would cost a write for each pod."""
    return f"{kind} {name} is being started"
