"""From one attempt to the next: pauses, budgets, and what has to be gone before."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from trainwright_operator.decide.plan import plan
from trainwright_operator.model import times
from trainwright_operator.model.plan import Lookup
from trainwright_operator.policies.retry import due

from ..simulation import SETTINGS, UID
from .scenario import pod, running


def test_a_crash_is_tried_again_after_a_pause_and_counts() -> None:
    cluster = running(backoffLimit=1)
    cluster.ends(exit_code=1, message="Job entrypoint command failed")
    cluster.settle()
    assert not cluster.children
    assert cluster.status.retries == 1
    assert cluster.condition("Running") == ("False", "BackOff")
    (told,) = [one.message for one in cluster.status.conditions or [] if one.type == "Running"]
    (last,) = cluster.status.attempts or []
    pause = due(cluster.status, last, UID, SETTINGS.backoff)
    assert pause is not None
    next_one = f"attempt 2, retry 1 of 1, follows at {times.written(pause)}"
    assert told == f"attempt 1 ended (Crash); {next_one}"
    assert cluster.status.message == f"attempt 1 ended: Job entrypoint command failed; {next_one}"
    cluster.wait(12.1)
    cluster.settle()
    assert cluster.status.attempt == 2
    cluster.ends(exit_code=1)
    cluster.settle()
    assert cluster.condition("Failed") == ("True", "BackoffLimitExceeded")
    assert [attempt.outcome for attempt in cluster.status.attempts or []] == ["crash", "crash"]
    assert list(cluster.children) == ["flights-1c9e2f7a-2-train"], "the last child is kept for its logs"


def test_a_preemption_has_a_budget_of_its_own_and_no_pause() -> None:
    cluster = running(backoffLimit=0, preemptionLimit=1)
    for attempt in (1, 2):
        assert cluster.status.attempt == attempt
        cluster.pods = {"one": pod(cluster, disrupted="PreemptionByScheduler", phase="Failed", exit_code=143)}
        cluster.ends(exit_code=143)
        cluster.settle()
    assert cluster.condition("Failed") == ("True", "PreemptionLimitExceeded")
    assert (cluster.status.retries, cluster.status.preemptions) == (None, 2)


def test_the_next_attempt_waits_until_the_pods_of_the_old_one_are_gone() -> None:
    cluster = running()
    cluster.pods = {"one": pod(cluster)}
    cluster.ends(exit_code=1)
    cluster.wait(1000)
    cluster.settle()
    assert (cluster.status.attempt, cluster.condition("Running")) == (1, ("False", "WaitingForPods"))
    cluster.pods = {}
    cluster.wait(1000)
    cluster.settle()
    assert cluster.status.attempt == 2


def test_the_next_attempt_is_named_only_after_the_last_child_and_its_pods_were_asked_for() -> None:
    cluster = running()
    old, unseen = cluster.child, pod(cluster)
    cluster.ends(exit_code=1)
    cluster.settle()
    cluster.wait(1000)
    lookups = plan(cluster.job(), cluster.snapshot(), SETTINGS, cluster.now).lookups
    assert lookups == (Lookup("pods"), Lookup("child", old.name, "Job"))
    answers = {"pods_fresh": True, "gone": frozenset({old.name})}
    waits = plan(cluster.job(), cluster.snapshot(pods=(unseen,), **answers), SETTINGS, cluster.now)
    assert waits.status is not None
    assert waits.status.message == "attempt 1 ended (Crash); its pod pod-1 is not gone yet"
    assert waits.wake_at == cluster.now + timedelta(seconds=SETTINGS.retry_limit)
    clears = plan(cluster.job(), cluster.snapshot(children=(old,), pods_fresh=True), SETTINGS, cluster.now)
    assert [one.name for one in clears.delete] == [old.name]
    cluster.settle()
    assert cluster.status.attempt == 2


def test_a_child_of_an_older_attempt_is_deleted() -> None:
    cluster = running()
    cluster.children["late"] = replace(cluster.child, name="late", attempt=7)
    cluster.settle()
    assert list(cluster.children) == ["flights-1c9e2f7a-1-train"]


def test_only_ten_attempts_are_kept() -> None:
    cluster = running(backoffLimit=20)
    for _ in range(12):
        cluster.ends(exit_code=1)
        cluster.settle()
        cluster.wait(1000)
        cluster.settle()
    assert [attempt.number for attempt in cluster.status.attempts or []] == list(range(4, 14))
