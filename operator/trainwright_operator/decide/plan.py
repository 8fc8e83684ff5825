"""Map the observed state to a plan. This function is pure and level-triggered, and it alone decides.

A job is in exactly one situation. The situations are tried in the order of the table; the first that recognizes the job
plans the whole pass. Only the status is kept between passes.

A pass acts on what the status already records, and records what it has newly seen. The name of a child is written one
pass before the child is created; the end of an attempt is written one pass before its child is deleted. So after a
crash between any two requests, the next pass recognizes what exists as its own.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from trainwright_operator.decide.between_attempts import (
    backing_off,
    clearing_away,
    kind_missing,
    pods_linger,
    refused,
    suspended,
    time_spent,
)
from trainwright_operator.decide.context import Context
from trainwright_operator.decide.finished import being_deleted, finished, unreadable
from trainwright_operator.decide.resizing import growing, without_room
from trainwright_operator.decide.running import (
    child_unseen,
    ended,
    late,
    orphans,
    out_of_time,
    pod_lost,
    requeued,
    running,
    to_stop,
)
from trainwright_operator.decide.starting import assign_attempt, create_child
from trainwright_operator.model.observed import Job, Snapshot
from trainwright_operator.model.plan import Plan
from trainwright_operator.settings import Settings

Situation = Callable[[Context], Plan | None]

SITUATIONS: tuple[Situation, ...] = (
    # the end, or no beginning that can be read
    being_deleted,
    unreadable,
    finished,
    # an attempt that was created and has not ended
    orphans,
    child_unseen,
    ended,
    requeued,
    out_of_time,
    to_stop,
    pod_lost,
    without_room,
    late,
    growing,
    running,
    # between two attempts, or before the first
    time_spent,
    clearing_away,
    pods_linger,
    refused,
    suspended,
    kind_missing,
    backing_off,
    # a new attempt
    create_child,
    assign_attempt,
)


def plan(job: Job, snapshot: Snapshot, settings: Settings, now: datetime, ca: str = "") -> Plan:
    """Return the plan for the job at this time. `ca`: the certificate authority of the progress endpoint, in PEM."""
    context = Context(job, snapshot, settings, now, ca)
    return next(found for situation in SITUATIONS if (found := situation(context)) is not None)
