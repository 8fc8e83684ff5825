"""Why a child does not run yet: it waits for room, or it is being started."""

from __future__ import annotations

from trainwright_operator.observed import Child, Pod


def waiting(child: Child, pods: tuple[Pod, ...]) -> tuple[str, str]:
    """The reason, Queued or Starting, and one line."""
    own = [pod for pod in pods if pod.attempt == child.attempt and not pod.ended]
    if child.state == "suspended":
        return "Queued", f"{child.kind} {child.name} waits in its queue"
    without_room = [pod for pod in own if pod.unschedulable]
    if without_room:
        return "Queued", f"{len(without_room)} of {len(own)} pods wait for room: {without_room[0].unschedulable}"
    held_up = next((pod for pod in own if pod.waiting), None)
    if held_up is not None:
        return "Starting", f"pod {held_up.name}: {held_up.waiting}"
    if not own:
        return "Starting", f"{child.kind} {child.name} has no pods yet"
    placed = sum(pod.node is not None for pod in own)
    return "Starting", f"{placed} of {len(own)} pods have a node, {sum(pod.ready for pod in own)} are ready"
