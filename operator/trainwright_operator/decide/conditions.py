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


def waits(draft: StatusBuilder, reason: str, message: str) -> None:
    """On its way: not running yet, or not any more for now."""
    draft.condition("Running", False, reason, message)
    draft.condition("Reconciling", True, reason, message)
    draft.condition("Stalled", False, "Progressing")


def runs(draft: StatusBuilder, reason: str, message: str) -> None:
    draft.condition("Running", True, reason, message)
    settles(draft, reason)


def settles(draft: StatusBuilder, reason: str) -> None:
    """As it is wanted to be: nothing is under way."""
    draft.condition("Reconciling", False, reason)
    draft.condition("Stalled", False, "Progressing")


def stalls(draft: StatusBuilder, reason: str, message: str) -> None:
    """Nothing will happen until somebody mends something."""
    draft.condition("Reconciling", False, reason)
    draft.condition("Stalled", True, reason, message)
