"""The reason and the message for an attempt of which no process could report why it ended."""

from __future__ import annotations

from trainwright_api.resource.redaction import redacted_text
from trainwright_operator.model.observed import EVICTED, OUT_OF_MEMORY, Child, Pod

KILLED = (137, 143)
"""The exit codes of SIGKILL and SIGTERM: the process did not exit by itself."""


def with_reason(own: tuple[Pod, ...]) -> Pod | None:
    """Return the first pod with a reason of its own. "Error" is the reason of every exit code but 0."""
    return next((pod for pod in own if pod.reason and pod.reason != "Error"), None)


def with_failed_init(own: tuple[Pod, ...]) -> Pod | None:
    """Return the first pod of which an init container has failed."""
    return next((pod for pod in own if pod.init_failure), None)


def words(pod: Pod) -> str:
    """Return the reason of a pod. Of one that was killed for memory, also the field that gives it more."""
    told = f"pod {pod.name}: {pod.reason}"
    if pod.reason != OUT_OF_MEMORY:
        return told
    if not pod.memory_limit:
        return f"{told}: its node has no more memory; podTemplate.resources.requests.memory reserves memory"
    return f"{told}: it needs more memory than its limit of {pod.memory_limit}, podTemplate.resources.limits.memory"


def disruption(own: tuple[Pod, ...]) -> str:
    """Return the disruption reason of a pod that the attempt needs, "" if there is none.

    Such a pod may be gone before its child has failed. So the first pass that sees it stores the reason and the words
    in the open attempt.
    """
    taken = _taken(own)
    return taken.disrupted if taken is not None else ""


def disruption_words(own: tuple[Pod, ...]) -> str:
    """Return the pod that the attempt needs and that was evicted, and why; "" if there is none."""
    taken = _taken(own)
    if taken is None:
        return ""
    told = redacted_text(taken.disruption)
    return f"pod {taken.name} was evicted from its node{f': {told}' if told else ''}"


def _taken(own: tuple[Pod, ...]) -> Pod | None:
    """An eviction by the kubelet is no preemption: a pod that fills its node would be evicted again and again."""
    return next((pod for pod in own if pod.essential and pod.disrupted and pod.reason != EVICTED), None)


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
    """Return the first pod that ended and was not deleted. If a pod of a gang is lost, the others are deleted."""
    return next((pod for pod in own if pod.exit_code and pod.deletion_time is None), None)
