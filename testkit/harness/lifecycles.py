"""The table of lifecycles for every kind of child."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from testkit.api import Manifest, until
from testkit.harness.end_state import children, nothing_left
from testkit.harness.lifecycle import Lifecycle, User
from testkit.harness.operators import FAST
from testkit.simulators import Fail, LoseHead, Preempt, RunForever, StopWhenAsked, Succeed


async def completes(user: User) -> None:
    await user.sees_true("Complete")


async def fails(user: User) -> None:
    await user.sees_true("Failed")


async def is_stopped_for_good(user: User) -> None:
    """Wait for the deletions that follow the write of the end, because they are slow on a busy machine."""
    await user.sees_true("Failed")
    await until(lambda: children(user.api, user.namespace), lambda found: not found, what="the end of its child")


async def passes_its_deadline(user: User) -> None:
    """The deadline is set while the task runs: one from the start may come in either stage of a job with two."""
    await user.sees("the task running", does("Running"))
    await user.change(activeDeadlineSeconds=1)
    await is_stopped_for_good(user)


async def is_suspended_and_resumed(user: User) -> None:
    await user.sees("the task running", does("Running"))
    await user.change(suspend=True)
    await user.sees_true("Suspended")
    await user.change(suspend=False)
    await user.sees_true("Complete")


async def loses_its_children(user: User) -> None:
    await user.sees("an end without a child", lambda job: _has_ended(job) and "child" not in job["status"])
    # The owner reference of a Secret deletes it with the job.
    await nothing_left(user.api, user.namespace, kept="Secret")


async def goes_with_its_children(user: User) -> None:
    await user.sees_no_job()
    await nothing_left(user.api, user.namespace)


async def is_deleted_in_the_background(user: User) -> None:
    await user.sees("the task running", does("Running"))
    await user.delete("Background")
    await goes_with_its_children(user)


async def is_deleted_in_the_foreground(user: User) -> None:
    await user.sees("the task running", does("Running"))
    await user.delete("Foreground")
    await goes_with_its_children(user)


def does(reason: str) -> Callable[[Manifest], bool]:
    """Return a check that the job's pods run: Running is its task, Preprocessing the stage before it."""
    word = {"type": "Running", "status": "True", "reason": reason}
    return lambda job: any(word.items() <= one.items() for one in job.get("status", {}).get("conditions", ()))


def _has_ended(job: Manifest) -> bool:
    return job.get("status", {}).get("phase") in ("Complete", "Failed")


LIFECYCLES = {
    lifecycle.name: lifecycle
    for lifecycle in (
        Lifecycle("success", [Succeed()], completes),
        Lifecycle("two crashes, then success", [Fail(), Fail(), Succeed()], completes),
        Lifecycle("a mistake", [Fail(exit_code=2, message="no such column")], fails),
        Lifecycle("a lost head, then success", [LoseHead(after=0.1), Succeed()], completes),
        # A preemption is unknown if its pod is gone before an operator has seen it, so the pod takes 2 s to terminate.
        Lifecycle("a preemption, then success", [Preempt(after=0.1, terminating=2.0), Succeed()], completes),
        Lifecycle("suspended and resumed", [StopWhenAsked(), Succeed()], is_suspended_and_resumed),
        Lifecycle(
            "suspended without an answer",
            [RunForever(), Succeed(reported_by="exit code")],
            is_suspended_and_resumed,
            settings=replace(FAST, stop_grace=0.5),
        ),
        Lifecycle("the deadline", [RunForever()], passes_its_deadline),
        Lifecycle("TTL of the children", [Succeed()], loses_its_children, {"ttlSecondsAfterFinished": 0}),
        Lifecycle(
            "TTL of the job",
            [Succeed()],
            goes_with_its_children,
            {"ttlSecondsAfterFinished": 0, "ttlPolicy": "DeleteJob"},
        ),
        Lifecycle("deleted in the background", [RunForever()], is_deleted_in_the_background),
        Lifecycle("deleted in the foreground", [RunForever()], is_deleted_in_the_foreground),
    )
}
