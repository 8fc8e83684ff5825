"""The heart: from what is there to what shall be. Pure, level-triggered, and the only place that decides.

A job is in exactly one situation. They are tried in the order of the table; the first that knows the job plans the
whole pass. Nothing is remembered between passes but the status.

A pass acts on what the status already says, and writes down what it has newly seen: first the name of a child, then, a
pass later, the child; first that an attempt has ended, then its deletion. So a crash between any two requests leaves
what the next pass reads as its own.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from trainwright_operator.decide.between_attempts import (
    backing_off,
    clearing_away,
    pods_linger,
    refused,
    suspended,
    without_kuberay,
)
from trainwright_operator.decide.context import Context
from trainwright_operator.decide.finished import being_deleted, finished
from trainwright_operator.decide.running import (
    child_unseen,
    ended,
    going_on,
    late,
    lost,
    orphans,
    out_of_time,
    requeued,
    to_stop,
)
from trainwright_operator.decide.starting import assign_attempt, create_child
from trainwright_operator.model.observed import Job, World
from trainwright_operator.model.plan import Plan
from trainwright_operator.settings import Settings

Situation = Callable[[Context], Plan | None]

SITUATIONS: tuple[Situation, ...] = (
    # the end
    being_deleted,
    finished,
    # an attempt that was created and has not ended
    orphans,
    child_unseen,
    ended,
    requeued,
    out_of_time,
    to_stop,
    lost,
    late,
    going_on,
    # between two attempts, or before the first
    clearing_away,
    pods_linger,
    refused,
    suspended,
    without_kuberay,
    backing_off,
    # a new attempt
    create_child,
    assign_attempt,
)


def plan(job: Job, world: World, settings: Settings, now: datetime, ca: str = "") -> Plan:
    """What to do about the job now. `ca`: the certificate authority of the progress endpoint, in PEM."""
    view = Context(job, world, settings, now, ca)
    return next(found for situation in SITUATIONS if (found := situation(view)) is not None)
