"""Decides if another attempt may follow an ending, and when."""

from __future__ import annotations

import hashlib
from datetime import datetime

from trainwright_api.resource.status import Attempt, OutcomeClass, TrainingJobStatus
from trainwright_operator.model import times
from trainwright_operator.policies.deadlines import Limits
from trainwright_operator.policies.start import released_its_nodes
from trainwright_operator.settings import Backoff

COUNTED: tuple[OutcomeClass, ...] = ("environment", "crash", "infrastructure")
"""The endings that count against backoffLimit. A stop that the operator did not request counts as a preemption."""


def refusal(outcome: OutcomeClass, retries: int, preemptions: int, limits: Limits) -> str:
    """Return the reason for which no further attempt is made, "" if one is. The counts include this ending."""
    if outcome == "mistake":
        return "Mistake"
    if outcome in COUNTED and retries > limits.backoff:
        return "BackoffLimitExceeded"
    if outcome == "preempted" and preemptions > limits.preemption:
        return "PreemptionLimitExceeded"
    return ""


def due(status: TrainingJobStatus, last: Attempt, uid: str, backoff: Backoff) -> datetime | None:
    """Return the time at which the attempt after `last` may start; None: at once.

    A pause follows an ending that counts, and one that released its nodes.
    """
    ended, room = times.read(last.completion_time), released_its_nodes(last)
    if ended is None or not (room or last.outcome in COUNTED):
        return None
    failures = status.requeues if room else status.retries
    return times.after(ended, pause(failures or 1, f"{uid}/{last.number}", backoff))


def pause(failures: int, seed: str, backoff: Backoff) -> float:
    """Return the pause in seconds.

    It doubles with each failure up to the limit, then varies by ± jitter. The same seed gives the same pause.
    """
    plain = min(backoff.base * 2.0 ** min(failures - 1, 60), backoff.limit)
    draw = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8]) / 2**64
    return float(plain * (1 + backoff.jitter * (2 * draw - 1)))
