"""The limits and the defaults of the administrator, before and after a job has started."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from trainwright_operator.job_defaults import JobDefaults
from trainwright_operator.model.observed import Held, Node
from trainwright_operator.policy import Policy

from ..simulation import SETTINGS, SPEC, Cluster
from .scenario import RAY, running

KEYS_FORBIDDEN = (
    "flights: backend.cache_credentials: keys in plain text, which everybody who may view the job can read: not "
    "allowed in this cluster (policy.inlineKeys); put them into a Secret and name it in spec.credentials"
)


def test_what_the_policy_forbids_is_not_started_until_the_job_or_the_policy_changes() -> None:
    cluster = Cluster(spec={**SPEC, "backend": {"cache_credentials": {"key": "x"}}})
    cluster.settle()
    assert (cluster.status.phase, cluster.condition("Accepted")) == ("Invalid", ("False", "ForbiddenByPolicy"))
    assert cluster.status.message == KEYS_FORBIDDEN
    assert [(event.type, event.reason) for event in cluster.events] == [("Warning", "ForbiddenByPolicy")]
    cluster.settings = replace(cluster.settings, policy=Policy(inline_keys=True))
    cluster.settle()
    assert cluster.condition("Accepted") == ("True", "Accepted")
    assert cluster.children


def test_under_a_stricter_policy_an_attempt_goes_on_and_none_follows() -> None:
    cluster = running(podTemplate={"serviceAccountName": "default"})
    cluster.settings = replace(cluster.settings, policy=Policy(service_accounts=()))
    cluster.settle()
    assert cluster.status.phase == "Running"
    cluster.ends(exit_code=1)
    cluster.wait(1000)
    cluster.settle()
    assert (cluster.status.attempt, cluster.condition("Stalled")) == (1, ("True", "ForbiddenByPolicy"))


def test_a_started_job_is_suspended_under_a_stricter_policy() -> None:
    cluster = running(podTemplate={"serviceAccountName": "default"})
    cluster.settings = replace(cluster.settings, policy=Policy(service_accounts=()))
    cluster.change(suspend=True)
    cluster.settle()
    cluster.ends(exit_code=75)
    cluster.settle()
    assert (cluster.status.phase, cluster.condition("Suspended")) == ("Suspended", ("True", "Suspended"))
    assert cluster.condition("Stalled") == ("True", "ForbiddenByPolicy")
    cluster.change(suspend=False)
    cluster.settle()
    assert (cluster.status.phase, cluster.condition("Suspended")) == ("Invalid", ("False", "Resumed"))


def test_a_size_that_only_the_nodes_decide_is_checked_before_anything_is_created() -> None:
    settings = replace(SETTINGS, policy=Policy(max_gpus_per_job=1))
    gpus = Node("eight", True, False, {}, (), {"nvidia.com/gpu": 8.0})
    cluster = Cluster(spec=RAY, settings=settings, nodes=(gpus,))
    cluster.settle()
    assert cluster.condition("Accepted") == ("False", "ForbiddenByPolicy")
    assert "2 GPUs are more than 1, the maximum of this cluster (policy.maxGpusPerJob)" in (
        cluster.status.message or ""
    )
    assert not cluster.created


def test_a_job_that_is_resumed_and_has_to_wait_is_no_longer_suspended() -> None:
    cluster = Cluster(
        spec={**RAY, "suspend": True}, settings=replace(SETTINGS, policy=Policy(max_workers_per_namespace=3))
    )
    cluster.settle()
    assert cluster.status.phase == "Suspended"
    cluster.others = Held(2, 0)
    cluster.spec = RAY
    cluster.settle()
    assert (cluster.status.phase, cluster.condition("Suspended")) == ("Queued", ("False", "Resumed"))


def test_a_job_waits_for_the_others_of_its_namespace_and_then_starts() -> None:
    cluster = Cluster(spec=RAY, settings=replace(SETTINGS, policy=Policy(max_workers_per_namespace=3)))
    cluster.others = Held(2, 0)
    cluster.settle()
    assert (cluster.status.phase, cluster.condition("Running")) == ("Queued", ("False", "NamespaceMaximum"))
    assert "they hold 2 workers, this one needs 2" in (cluster.status.message or "")
    assert not cluster.created
    woken = cluster.decide().wake_at
    assert woken is not None
    assert timedelta(seconds=5) < woken - cluster.now < timedelta(seconds=15)
    cluster.others = Held(1, 0)
    cluster.settle()
    assert cluster.created


def test_the_administrators_time_to_live_holds_for_jobs_without_one() -> None:
    cluster = running()
    cluster.settings = replace(cluster.settings, jobs=JobDefaults(ttl_seconds_after_finished=60))
    cluster.posts("done")
    cluster.ends()
    cluster.settle()
    assert cluster.children
    cluster.wait(61)
    cluster.settle()
    assert not cluster.children
