"""The conditions of a job, as every situation sets them. Reconciling and Stalled are kstatus' words."""

from __future__ import annotations

from trainwright_api.resource.messages import LINE_LETTERS
from trainwright_operator.model.status_builder import StatusBuilder

CHANGED = (
    "the spec has changed since the job started, and what was started goes on unchanged: "
    "undo the change, or delete the job and create it anew"
)

PREPROCESSING = "preprocessing on CPUs; GPUs are asked for when that is done"


def line(text: str) -> str:
    """As one line of the status."""
    words = " · ".join(part.strip() for part in text.splitlines() if part.strip())
    return words if len(words) <= LINE_LETTERS else words[: LINE_LETTERS - 1] + "…"


def waits(builder: StatusBuilder, reason: str, message: str) -> None:
    """On its way: not running yet, or not any more for now."""
    builder.condition("Running", False, reason, message)
    builder.condition("Reconciling", True, reason, message)
    builder.condition("Stalled", False, "Progressing")


def runs(builder: StatusBuilder, reason: str, message: str) -> None:
    builder.condition("Running", True, reason, message)
    settles(builder, reason)


def settles(builder: StatusBuilder, reason: str) -> None:
    """As it is wanted to be: nothing is under way."""
    builder.condition("Reconciling", False, reason)
    builder.condition("Stalled", False, "Progressing")


def stalls(builder: StatusBuilder, reason: str, message: str) -> None:
    """Nothing will happen until somebody mends something."""
    builder.condition("Reconciling", False, reason)
    builder.condition("Stalled", True, reason, message)
