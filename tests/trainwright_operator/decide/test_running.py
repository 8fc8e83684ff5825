"""An attempt that runs: lost pods and nodes, a suspension, the deadline."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from trainwright_api.resource.status import Progress
from trainwright_operator.model.observed import Node

from ..simulation import SETTINGS, SPEC, Cluster
from .scenario import pod, running


def test_who_holds_the_others_up_is_the_message_of_a_job_that_runs() -> None:
    cluster = running()
    line = "rank 1 (flights-w-b) delays the others"
    for progress, message in (
        (Progress(attempt=1, straggler=line), line),
        (Progress(attempt=0, straggler=line), None),
        (Progress(attempt=1), None),
    ):
        cluster.status = cluster.status.model_copy(update={"progress": progress})
        cluster.settle()
        assert cluster.status.message == message


def test_a_pod_that_was_taken_off_its_node_is_remembered_when_it_is_gone() -> None:
    cluster = running()
    cluster.pods = {"head": pod(cluster, disrupted="PreemptionByScheduler")}
    cluster.settle()
    cluster.pods = {}
    cluster.ends(exit_code=1)
    cluster.children = {name: replace(child, exit_code=None) for name, child in cluster.children.items()}
    cluster.settle()
    assert (cluster.status.attempts or [])[0].outcome == "preempted"
    assert (cluster.status.retries, cluster.status.preemptions) == (None, 1)


def test_the_loss_of_one_of_rays_workers_is_rays_to_mend() -> None:
    cluster = running()
    cluster.pods = {"worker": pod(cluster, disrupted="PreemptionByScheduler", essential=False)}
    cluster.settle()
    cluster.pods = {}
    cluster.ends(exit_code=1)
    cluster.settle()
    assert (cluster.status.attempts or [])[0].outcome == "crash"


def test_a_pod_on_a_lost_node_is_passed_over_a_minute_past_its_grace() -> None:
    cluster = running()
    cluster.nodes = (Node("node-1", False, False, {}, (), {}),)
    cluster.ends(exit_code=1)
    cluster.wait(400)
    cluster.pods = {"one": pod(cluster, deletion_time=cluster.now)}
    cluster.settle()
    assert cluster.decide().wake_at == cluster.now + timedelta(seconds=60)
    cluster.wait(60)
    cluster.settle()
    assert cluster.status.attempt == 2


def test_an_attempt_whose_pod_is_lost_with_its_node_ends_when_the_pods_grace_is_over() -> None:
    """This includes a Ray worker: KubeRay replaces no pod that still exists in the API server."""
    cluster = running()
    gone = cluster.now + timedelta(seconds=60)
    cluster.pods = {"worker": pod(cluster, essential=False, deletion_time=gone, disrupted="DeletionByTaintManager")}
    cluster.nodes = (Node("node-1", True, False, {}, (), {}),)
    cluster.wait(59)
    assert cluster.decide().wake_at == gone
    cluster.wait(1)
    cluster.settle()
    assert cluster.status.phase == "Running", "its node still answers, and the kubelet may be late"
    cluster.nodes = (Node("node-1", False, False, {}, (), {}),)
    cluster.settle()
    (attempt,) = cluster.status.attempts or []
    assert (attempt.outcome, attempt.reason) == ("preempted", "DeletionByTaintManager")
    assert attempt.message == "pod pod-1 was lost with its node node-1"
    assert not cluster.children


def test_suspending_asks_first_and_deletes_after_the_grace() -> None:
    cluster = running()
    cluster.pods = {"one": pod(cluster)}
    cluster.change(suspend=True)
    cluster.settle()
    assert cluster.status.phase == "Stopping"
    assert cluster.children, "it may still write its checkpoint"
    assert cluster.decide().wake_at == cluster.now + timedelta(seconds=SETTINGS.stop_grace)
    cluster.wait(SETTINGS.stop_grace)
    cluster.pods = {}
    cluster.settle()
    assert not cluster.children
    assert (cluster.status.phase, cluster.condition("Suspended")) == ("Suspended", ("True", "Suspended"))
    assert cluster.status.message == "set spec.suspend to false to go on"
    cluster.change(suspend=False)
    cluster.settle()
    assert (cluster.status.attempt, cluster.status.retries) == (2, None)
    assert cluster.condition("Suspended") == ("False", "Resumed")


def test_a_child_that_stops_when_asked_is_deleted_at_once() -> None:
    cluster = running()
    cluster.change(suspend=True)
    cluster.settle()
    cluster.posts("stopped", "checkpoint 1,048,576 written")
    cluster.ends(exit_code=75)
    cluster.settle()
    assert cluster.status.phase == "Suspended"
    (attempt,) = cluster.status.attempts or []
    assert (attempt.outcome, attempt.message) == ("stopped", "checkpoint 1,048,576 written")


def test_a_job_that_ends_well_while_it_is_being_suspended_is_complete() -> None:
    cluster = running()
    cluster.change(suspend=True)
    cluster.settle()
    cluster.ends()
    cluster.settle()
    assert cluster.status.phase == "Complete"


@pytest.mark.parametrize("posts", [True, False])
def test_a_pod_that_stops_before_a_pass_sees_the_suspension_was_not_preempted(posts: bool) -> None:
    """Another replica tells the pod to stop, while no operator leads."""
    cluster = running(preemptionLimit=0)
    cluster.change(suspend=True)
    if posts:
        cluster.posts("stopped")
    cluster.ends(exit_code=75)
    cluster.settle()
    assert (cluster.status.phase, cluster.status.preemptions) == ("Suspended", None)
    assert (cluster.status.attempts or [])[-1].outcome == "stopped"


def test_a_suspended_job_starts_nothing() -> None:
    cluster = Cluster(spec={**SPEC, "suspend": True})
    cluster.settle()
    assert (cluster.status.phase, cluster.status.start_time) == ("Suspended", None)


def test_a_child_that_waits_for_room_when_it_is_suspended_is_deleted_at_once() -> None:
    cluster = Cluster()
    cluster.settle()
    cluster.change(suspend=True)
    cluster.settle()
    assert cluster.status.phase == "Suspended"


def test_the_deadline_counts_what_all_attempts_have_run() -> None:
    cluster = running(activeDeadlineSeconds=100)
    cluster.wait(70)
    cluster.ends(exit_code=3)
    cluster.settle()
    cluster.wait(500)
    cluster.settle()
    cluster.wait(1000)  # time spent waiting for room does not count
    cluster.settle()
    cluster.starts()
    cluster.settle()
    assert cluster.decide().wake_at == cluster.now + timedelta(seconds=30)
    cluster.wait(30)
    cluster.settle()
    assert cluster.condition("Failed") == ("True", "DeadlineExceeded")
    assert cluster.status.active_seconds == 100
    assert not cluster.children


@pytest.mark.parametrize("moment", ["back-off", "queued", "suspended"])
def test_a_deadline_below_the_time_already_spent_acts_at_once(moment: str) -> None:
    cluster = running()
    cluster.wait(70)
    cluster.ends(exit_code=3)
    if moment == "suspended":
        cluster.change(suspend=True)
    cluster.settle()
    if moment == "queued":
        cluster.wait(500)
        cluster.settle()
    cluster.change(activeDeadlineSeconds=71)
    cluster.settle()
    assert cluster.status.phase != "Failed"
    cluster.change(activeDeadlineSeconds=70)
    cluster.settle()
    assert cluster.condition("Failed") == ("True", "DeadlineExceeded")
    words = "it has run for longer than activeDeadlineSeconds (70 s)"
    assert cluster.status.message == f"attempt {2 if moment == 'queued' else 1}: {words}"
    assert (cluster.status.active_seconds, list(cluster.children)) == (70, [])
