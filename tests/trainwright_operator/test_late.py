"""Attempts that do not start, one scenario a test. Jobs that compete for room: test_gangs_at_random.py."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from trainwright_operator.decide.plan import plan
from trainwright_operator.model.observed import Pod, Waiting
from trainwright_operator.model.plan import Lookup

from .simulation import SETTINGS, SPEC, UID, Cluster

RAY = {"type": "ray", "trainer": {"num_workers": 1}}
OTHER = Waiting("2026-11-21T11:00:00Z", "another", gang=False, trying=True)
SELF = Waiting("2026-11-21T12:00:00Z", UID, gang=True, trying=True)


def waiting(backend: object = RAY, **spec: object) -> Cluster:
    """Return a cluster whose head pod has a node and whose worker pod has none."""
    cluster = Cluster(spec={**SPEC, "backend": backend, **spec})
    cluster.settle()
    place(cluster)
    cluster.settle()
    return cluster


def place(cluster: Cluster) -> None:
    child = cluster.child
    pod = Pod("default", f"{child.name}-head", "p1", UID, child.attempt, "node-1", "Running", scheduled=cluster.now)
    worker = replace(pod, name=f"{child.name}-worker", uid="p2", node=None, phase="Pending", scheduled=None)
    cluster.pods = {"head": pod, "worker": _unschedulable(worker, cluster)}


def _unschedulable(pod: Pod, cluster: Cluster) -> Pod:
    return replace(pod, unschedulable="0/1 nodes: Insufficient cpu", unschedulable_since=cluster.now)


def one_pod(**fields: object) -> Cluster:
    """Return a cluster with a job of one pod, which has a node."""
    cluster = Cluster(spec={**SPEC, "image": "registry.example.com/ml:7"})
    cluster.settle()
    name, attempt = cluster.child.name, cluster.child.attempt
    pod = Pod("default", name, "p1", UID, attempt, "node-1", "Pending", scheduled=cluster.now)
    cluster.pods = {"one": replace(pod, **fields)}
    cluster.settle()
    return cluster


def test_a_gang_without_room_for_all_gives_it_back_at_its_deadline() -> None:
    cluster = waiting(startDeadlineSeconds=100, backoffLimit=0, preemptionLimit=0)
    assert cluster.status.phase == "Queued"
    cluster.wait(100)
    cluster.settle()
    assert not cluster.children
    assert (cluster.status.phase, cluster.status.requeues) == ("Queued", 1)
    assert (cluster.status.retries, cluster.status.preemptions) == (None, None)
    cluster.pods = {}
    cluster.settle()
    assert cluster.condition("Running") == ("False", "Queued")
    cluster.wait(13)
    cluster.settle()
    assert cluster.created[-1] == "flights-1c9e2f7a-2-train"


def test_it_makes_room_for_others_long_before() -> None:
    cluster = waiting()
    cluster.waiting = (OTHER, SELF)
    assert cluster.decide().wake_at == cluster.now + timedelta(seconds=2 * SETTINGS.gang_grace)
    cluster.wait(2 * SETTINGS.gang_grace)
    cluster.settle()
    assert not cluster.children


def test_it_looks_whether_others_have_come() -> None:
    cluster = waiting()
    assert cluster.decide().wake_at == cluster.now + timedelta(seconds=SETTINGS.gang_grace)


def test_a_gang_in_a_queue_of_kueue_keeps_its_place_until_the_deadline() -> None:
    cluster = waiting(queueName="gpus")
    cluster.waiting = (OTHER, SELF)
    cluster.wait(899)
    cluster.settle()
    assert cluster.children
    cluster.wait(1)
    cluster.settle()
    assert not cluster.children


def test_what_a_queue_holds_has_no_deadline() -> None:
    cluster = waiting(startDeadlineSeconds=10)
    cluster.children[cluster.child.name] = replace(cluster.child, state="suspended")
    cluster.wait(10_000)
    cluster.settle()
    assert (len(cluster.children), cluster.status.attempt) == (1, 1)


def test_a_pod_without_a_node_holds_nothing_and_waits_for_ever() -> None:
    cluster = one_pod(node=None, scheduled=None, unschedulable="0/1 nodes: Insufficient cpu")
    cluster.waiting = (OTHER, SELF)
    cluster.wait(10_000)
    cluster.settle()
    assert (len(cluster.children), cluster.status.attempt, cluster.status.phase) == (1, 1, "Queued")


def test_it_starts_again_only_while_no_other_gang_is_on_its_way() -> None:
    cluster = waiting(startDeadlineSeconds=100)
    cluster.wait(100)
    cluster.settle()
    cluster.pods = {}
    cluster.waiting = (Waiting("2026-11-21T11:00:00Z", "another", gang=True, trying=True),)
    cluster.wait(10_000)
    cluster.settle()
    assert (cluster.status.attempt, cluster.status.phase) == (1, "Queued")
    wake_at = cluster.decide().wake_at
    assert wake_at is not None
    assert 8 <= (wake_at - cluster.now).total_seconds() <= 12
    cluster.waiting = ()
    cluster.settle()
    assert cluster.status.attempt == 2


def test_an_attempt_that_starts_ends_the_count() -> None:
    cluster = waiting(startDeadlineSeconds=100)
    cluster.wait(100)
    cluster.settle()
    cluster.pods = {}
    cluster.wait(13)
    cluster.settle()
    assert cluster.status.requeues == 1
    cluster.starts()
    cluster.settle()
    assert cluster.status.requeues is None
    cluster.wait(10_000)
    cluster.settle()
    assert cluster.status.phase == "Running"


def test_so_does_one_that_ended_before_anybody_looked() -> None:
    cluster = waiting(startDeadlineSeconds=100)
    cluster.wait(100)
    cluster.settle()
    cluster.pods = {}
    cluster.wait(13)
    cluster.settle()
    cluster.ends()
    cluster.settle()
    assert (cluster.status.phase, cluster.status.requeues) == ("Complete", None)


def test_a_container_that_cannot_start_is_one_event() -> None:
    cluster = one_pod(waiting="ErrImagePull: not found")
    for reason in ("ImagePullBackOff", "ErrImagePull", "ImagePullBackOff"):
        cluster.pods = {name: replace(pod, waiting=f"{reason}: not found") for name, pod in cluster.pods.items()}
        cluster.settle()
    (event,) = [event for event in cluster.events if event.reason == "CannotStart"]
    assert (event.type, event.message.partition(": ")[2]) == ("Warning", "ErrImagePull: not found")


def test_an_image_that_cannot_be_pulled_ends_the_job_at_the_deadline() -> None:
    cluster = one_pod(waiting="ErrImagePull: not found", waiting_image="registry.example.com/ml:7")
    assert (cluster.status.phase, cluster.condition("Running")) == ("Starting", ("False", "CannotStart"))
    cluster.wait(899)
    cluster.settle()
    assert cluster.status.phase == "Starting"
    assert cluster.decide().wake_at == cluster.now + timedelta(seconds=1)
    cluster.wait(1)
    cluster.settle()
    assert cluster.condition("Failed") == ("True", "StartDeadlineExceeded")
    assert "image registry.example.com/ml:7 could not be pulled within startDeadlineSeconds (900 s)" in str(
        cluster.status.message
    )
    assert not cluster.children


def test_pods_that_have_their_place_and_do_not_start_are_tried_again() -> None:
    cluster = one_pod()
    cluster.wait(900)
    cluster.settle()
    (attempt,) = cluster.status.attempts or []
    assert (attempt.outcome, attempt.reason, cluster.status.retries) == ("infrastructure", "StartDeadlineExceeded", 1)


def test_nothing_is_given_back_before_the_pods_and_the_child_were_asked_for() -> None:
    cluster = waiting(startDeadlineSeconds=100)
    cluster.wait(100)
    assert plan(cluster.job(), cluster.snapshot(), SETTINGS, cluster.now).lookups == (Lookup("pods"),)
    fresh = plan(cluster.job(), cluster.snapshot(pods_fresh=True), SETTINGS, cluster.now)
    assert fresh.lookups == (Lookup("child", "flights-1c9e2f7a-1-train", "RayJob"),)
    cluster.starts()
    cluster.settle()
    assert cluster.status.phase == "Running", "it had started"
