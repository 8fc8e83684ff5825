"""The ending of an attempt, by its sources in the order of trust."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from trainwright_api.resource.messages import OutcomeMessage, encoded
from trainwright_api.resource.status import Attempt, PostedOutcome
from trainwright_operator.model.observed import Child, Pod
from trainwright_operator.policies.outcome import ending

from ..simulation import START, UID, Cluster

ATTEMPT = Attempt(number=1, child="c", create_time="2026-11-21T12:00:00Z", start_time="2026-11-21T12:01:00Z")
FAILED = Child("RayJob", "default", "c", "u", UID, 1, "train", START, False, "failed", reason="AppFailed")
POD = Pod("default", "p", "pu", UID, 1, "n", "Failed", exit_code=1)


def end(*pods: Pod, child: Child | None = FAILED, attempt: Attempt = ATTEMPT, posted: Any = None) -> tuple[str, str]:
    job = Cluster().job()
    job = replace(job, status=job.status.model_copy(update={"outcome": posted}))
    found = ending(job, attempt, child, pods)
    return found.outcome, found.reason


def test_what_was_posted_is_believed_before_anything_else() -> None:
    posted = PostedOutcome(attempt=1, outcome="mistake", message="no such column")
    assert end(POD, posted=posted) == ("mistake", "Mistake")


def test_what_an_older_attempt_posted_says_nothing() -> None:
    assert end(replace(POD, exit_code=3), posted=PostedOutcome(attempt=0, outcome="done")) == (
        "environment",
        "Environment",
    )


def test_what_the_stage_before_reported_says_nothing() -> None:
    training = ATTEMPT.model_copy(update={"stage": "train"})
    late = PostedOutcome(attempt=1, stage="preprocess", outcome="done")
    assert end(replace(POD, exit_code=3), attempt=training, posted=late)[0] == "environment"
    message = encoded(OutcomeMessage(attempt=1, stage="preprocess", outcome="mistake", line="late"))
    assert end(replace(POD, stage="preprocess", termination_message=message), attempt=training)[0] == "infrastructure"


def test_a_label_that_a_user_has_changed_hides_no_pod() -> None:
    training = ATTEMPT.model_copy(update={"stage": "train"})
    assert end(replace(POD, stage="x", exit_code=3), attempt=training)[0] == "environment"


def test_of_a_pod_whose_program_names_no_stage_the_label_does() -> None:
    message = encoded(OutcomeMessage(attempt=1, outcome="environment", line="disk full"))
    training = ATTEMPT.model_copy(update={"stage": "train"})
    assert end(replace(POD, stage="train", termination_message=message), attempt=training)[0] == "environment"


def test_the_termination_message_is_believed_before_the_exit_code() -> None:
    message = encoded(OutcomeMessage(attempt=1, outcome="environment", line="disk full"))
    assert end(replace(POD, termination_message=message)) == ("environment", "Environment")


@pytest.mark.parametrize(
    ("code", "outcome"),
    [(1, "crash"), (2, "mistake"), (3, "environment"), (75, "preempted"), (137, "infrastructure"), (99, "crash")],
)
def test_exit_codes(code: int, outcome: str) -> None:
    assert end(replace(POD, exit_code=code))[0] == outcome
    assert end(child=replace(FAILED, exit_code=code))[0] == outcome


def test_a_submission_that_fails_while_the_job_runs_has_lost_its_head_or_its_submitter() -> None:
    failed = replace(FAILED, reason="SubmissionFailed", message="Job submission has failed.")
    lost = replace(failed, started=START)
    job = Cluster().job()
    assert ending(job, ATTEMPT, failed, ()).message == "Job submission has failed."
    assert ending(job, ATTEMPT, lost, ()).message == "the head or the submitter of c was lost while it ran"


def test_a_stop_that_was_asked_for_is_a_stop() -> None:
    assert (
        end(replace(POD, exit_code=75), attempt=ATTEMPT.model_copy(update={"stop_time": "2026-11-21T12:02:00Z"}))[0]
        == "stopped"
    )


def test_nobody_has_spoken() -> None:
    assert end() == ("infrastructure", "AppFailed")
    assert end(child=None) == ("infrastructure", "ChildGone")


def test_a_disrupted_pod_is_a_preemption_unless_it_had_failed_by_itself() -> None:
    disrupted = replace(POD, disrupted="PreemptionByScheduler", exit_code=143)
    assert end(disrupted) == ("preempted", "PreemptionByScheduler")
    assert end(replace(disrupted, exit_code=2))[0] == "mistake"
    assert end(disrupted, posted=PostedOutcome(attempt=1, outcome="stopped")) == ("preempted", "PreemptionByScheduler")


def test_an_eviction_says_which_pod_and_why_also_when_the_pod_is_gone() -> None:
    taken = replace(POD, exit_code=137, disrupted="TerminationByKubelet", disruption="The node was low on memory.")
    assert (
        ending(Cluster().job(), ATTEMPT, JOB, (taken,)).message
        == "pod p was evicted from its node: The node was low on memory."
    )
    stored = ATTEMPT.model_copy(update={"reason": "TerminationByKubelet", "message": "pod p was evicted from its node"})
    assert ending(Cluster().job(), stored, JOB, ()).message == "pod p was evicted from its node"


def test_of_a_gang_the_member_that_ended_by_itself_says_why() -> None:
    assert end(replace(POD, exit_code=137), replace(POD, name="q", exit_code=3))[0] == "environment"


def test_an_evicted_or_killed_pod_gives_the_reason() -> None:
    assert end(replace(POD, exit_code=137, reason="OOMKilled")) == ("infrastructure", "OOMKilled")
    assert end(replace(POD, exit_code=None, reason="Evicted")) == ("infrastructure", "Evicted")


def test_a_pod_that_fills_its_node_counts_as_a_failure_and_not_as_a_preemption() -> None:
    full = replace(POD, exit_code=137, reason="Evicted", disrupted="TerminationByKubelet", disruption="low on memory")
    assert end(full) == ("infrastructure", "Evicted")


JOB = replace(FAILED, kind="Job", reason="BackoffLimitExceeded", message="Job has reached the specified backoff limit")


@pytest.mark.parametrize(
    ("pods", "reason", "message"),
    [
        ((), "PodGone", "a pod of Job c is gone: it was deleted, or its node was"),
        ((replace(POD, exit_code=137, reason="Error"),), "PodKilled", "pod p was killed with exit code 137"),
        ((replace(POD, exit_code=0), replace(POD, exit_code=143)), "PodKilled", "pod p was killed with exit code 143"),
        ((POD,), "Crash", "pod p ended with exit code 1"),
        (
            (replace(POD, exit_code=143, deletion_time=START),),
            "PodGone",
            "a pod of Job c is gone: it was deleted, or its node was",
        ),
    ],
)
def test_the_backoff_limit_of_the_child_is_never_the_reason(pods: tuple[Pod, ...], reason: str, message: str) -> None:
    found = ending(Cluster().job(), ATTEMPT, JOB, pods)
    assert (found.reason, found.message) == (reason, message)


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ("", "pod p: init container fetch ended with exit code 1"),
        ("Looking\nNo such bucket\n", "pod p: init container fetch ended with exit code 1: No such bucket"),
    ],
)
def test_a_failed_init_container_is_the_reason(log: str, message: str) -> None:
    failed = replace(
        POD, exit_code=None, init_failure="init container fetch ended with exit code 1", termination_message=log
    )
    found = ending(Cluster().job(), ATTEMPT, JOB, (failed,))
    assert (found.outcome, found.reason, found.message) == ("crash", "InitContainerFailed", message)
    assert found.log_tail.strip() == log.strip()
    evicted = replace(failed, disrupted="TerminationByKubelet", disruption="")
    assert ending(Cluster().job(), ATTEMPT, JOB, (evicted,)).outcome == "preempted"


def test_a_pod_that_was_killed_for_memory_names_its_limit() -> None:
    killed = replace(POD, exit_code=137, reason="OOMKilled", memory_limit="4Gi")
    limited = ending(Cluster().job(), ATTEMPT, JOB, (killed,)).message
    assert (
        limited == "pod p: OOMKilled: it needs more memory than its limit of 4Gi, podTemplate.resources.limits.memory"
    )
    unlimited = ending(Cluster().job(), ATTEMPT, JOB, (replace(killed, memory_limit=""),)).message
    assert unlimited.startswith("pod p: OOMKilled: its node has no more memory; podTemplate.resources.requests.memory")


def test_the_last_line_of_the_log_is_the_reason_and_secrets_are_out_of_the_tail() -> None:
    log = "reading\npassword=hunter2\nValueError: boom\n"
    found = ending(Cluster().job(), ATTEMPT, FAILED, (replace(POD, termination_message=log),))
    assert found.message == "ValueError: boom"
    assert "hunter2" not in found.log_tail
    assert "reading" in found.log_tail


def test_the_tail_is_at_most_four_kibibytes() -> None:
    found = ending(Cluster().job(), ATTEMPT, replace(FAILED, exit_code=1, message="é" * 9000, log_tail="é" * 9000), ())
    assert 0 < len(found.log_tail.encode()) <= 4096


@pytest.mark.parametrize("separator", ["\n", " "])
def test_a_line_that_the_kubelet_has_cut_may_hold_half_a_secret_and_is_left_out(separator: str) -> None:
    cut = f"nter2-secret{separator}" + "all else " * 300
    found = ending(Cluster().job(), ATTEMPT, FAILED, (replace(POD, termination_message=cut),))
    assert "nter2-secret" not in found.log_tail + found.message
    assert found.log_tail.startswith("all else")
