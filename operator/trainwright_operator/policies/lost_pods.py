"""The reason and the message for an attempt of which no process could report why it ended."""

from __future__ import annotations

from trainwright_operator.model.observed import OUT_OF_MEMORY, Child, Pod

KILLED = (137, 143)
"""The exit codes of SIGKILL and SIGTERM: the process did not exit by itself."""


def with_reason(own: tuple[Pod, ...]) -> Pod | None:
    """Return the first pod with a reason of its own. "Error" is the reason of every exit code but 0."""
    return next((pod for pod in own if pod.reason and pod.reason != "Error"), None)


def words(pod: Pod) -> str:
    """Return the reason of a pod. Of one that was killed for memory, also the field that gives it more."""
    told = f"pod {pod.name}: {pod.reason}"
    if pod.reason != OUT_OF_MEMORY:
        return told
    if not pod.memory_limit:
        return f"{told}: its node has no more memory; podTemplate.resources.requests.memory reserves memory"
    return f"{told}: it needs more memory than its limit of {pod.memory_limit}, podTemplate.resources.limits.memory"


def reason(own: tuple[Pod, ...]) -> str:
    """Return the reason for the end of a Job that has lost a pod without a reason."""
    return "PodGone" if _ended(own) is None else "PodKilled"


def line(child: Child, own: tuple[Pod, ...]) -> str:
    """Return the message for the end of a Job of which no pod has left a reason or a log."""
    ended = _ended(own)
    if ended is None:
        return f"a pod of {child.kind} {child.name} is gone: it was deleted, or its node was"
    return f"pod {ended.name} {'was killed' if ended.exit_code in KILLED else 'ended'} with exit code {ended.exit_code}"


def _ended(own: tuple[Pod, ...]) -> Pod | None:
    return next((pod for pod in own if pod.exit_code), None)
