"""The conditions of a job, as the situations set them. Reconciling and Stalled are terms of kstatus."""

from __future__ import annotations

from trainwright_api.resource.messages import LINE_CHARACTERS
from trainwright_operator.model.status_builder import StatusBuilder, condition_of

CHANGED = (
    "the spec has changed since the job started, and what was started goes on unchanged: "
    "undo the change, or delete the job and create it anew"
)

FORBIDDEN = "ForbiddenByPolicy"
"""The reason of a job that the administrator's policy forbids."""

PREPROCESSING = "preprocessing on CPUs; GPUs are asked for when that is done"


def line(text: str) -> str:
    """Return the text as one line for the status, cut to LINE_CHARACTERS characters."""
    words = " · ".join(part.strip() for part in text.splitlines() if part.strip())
    return words if len(words) <= LINE_CHARACTERS else words[: LINE_CHARACTERS - 1] + "…"


def accepts(builder: StatusBuilder) -> None:
    """The spec can be run. The message of the last attempt, with its size and the warnings, stays."""
    before = condition_of(builder.get("conditions"), "Accepted", "True")
    builder.condition("Accepted", True, "Accepted", before.message if before else "")


def waits(builder: StatusBuilder, reason: str, message: str) -> None:
    """The job does not run now, but will."""
    builder.condition("Running", False, reason, message)
    builder.condition("Reconciling", True, reason, message)
    builder.condition("Stalled", False, "Progressing")


def runs(builder: StatusBuilder, reason: str, message: str) -> None:
    builder.condition("Running", True, reason, message)
    settles(builder, reason)


def settles(builder: StatusBuilder, reason: str) -> None:
    """The job is in its desired state: nothing is in progress."""
    builder.condition("Reconciling", False, reason)
    builder.condition("Stalled", False, "Progressing")


def stalls(builder: StatusBuilder, reason: str, message: str) -> None:
    """Nothing happens until a person fixes the cause."""
    builder.condition("Reconciling", False, reason)
    builder.condition("Stalled", True, reason, message)
