"""The table of lifecycles that only a job with two stages has: events while it preprocesses."""

from __future__ import annotations

from dataclasses import replace

from testkit.harness.jobs import BACKENDS
from testkit.harness.lifecycle import Lifecycle, User
from testkit.harness.lifecycles import completes, does, fails, goes_with_its_children, is_stopped_for_good
from testkit.harness.operators import FAST
from testkit.simulators import Fail, LoseHead, Preempt, RunForever, StopWhenAsked, Succeed


async def is_suspended_while_it_preprocesses(user: User) -> None:
    await user.sees("preprocessing", does("Preprocessing"))
    await user.change(suspend=True)
    await user.sees_true("Suspended")
    await user.change(suspend=False)
    await user.sees_true("Complete")


async def is_deleted_while_it_preprocesses(user: User) -> None:
    await user.sees("preprocessing", does("Preprocessing"))
    await user.delete("Background")
    await goes_with_its_children(user)


QUEUED = Succeed(queued=0.2)
EXIT_CODES = Succeed(reported_by="exit code", before=Succeed(reported_by="exit code"))
"""No outcome is posted, so the child need not end within the grace period."""
STAGED = {
    lifecycle.name: lifecycle
    for lifecycle in (
        Lifecycle("a crash while it preprocesses", [Succeed(before=Fail()), Succeed()], completes),
        Lifecycle("a crash after it has preprocessed", [Fail(), Succeed(before=RunForever())], completes),
        Lifecycle("a mistake in the data", [Succeed(before=Fail(exit_code=2, message="no such column"))], fails),
        Lifecycle(
            "a preemption while it preprocesses",
            [Succeed(before=Preempt(after=0.1, terminating=2.0)), Succeed()],
            completes,
        ),
        Lifecycle("a lost pod while it preprocesses", [Succeed(before=LoseHead(after=0.1)), Succeed()], completes),
        Lifecycle("exit codes alone", [EXIT_CODES], completes),
        Lifecycle(
            "termination messages alone",
            [Succeed(reported_by="termination message", before=Succeed(reported_by="termination message"))],
            completes,
        ),
        Lifecycle("queued in both stages", [replace(QUEUED, before=QUEUED)], completes, {"queueName": "gpus"}),
        Lifecycle(
            "suspended while it preprocesses",
            [Succeed(before=StopWhenAsked()), Succeed()],
            is_suspended_while_it_preprocesses,
        ),
        Lifecycle(
            "suspended while it preprocesses, without an answer",
            [Succeed(before=RunForever()), EXIT_CODES],
            is_suspended_while_it_preprocesses,
            settings=replace(FAST, stop_grace=0.5),
        ),
        Lifecycle(
            "the deadline while it preprocesses",
            [Succeed(before=RunForever())],
            is_stopped_for_good,
            {"activeDeadlineSeconds": 1},
        ),
        Lifecycle(
            "a lost head while dask preprocesses",
            [Succeed(before=LoseHead(after=0.1)), Succeed()],
            completes,
            {"backend": {**BACKENDS["gpu"], "processor": {"type": "dask"}}},
        ),
        Lifecycle("deleted while it preprocesses", [Succeed(before=RunForever())], is_deleted_while_it_preprocesses),
    )
}
