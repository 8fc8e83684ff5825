from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from trainwright_operator.children import read_pod
from trainwright_operator.model.observed import Pod

from .child_specs import UID

RAN = "2026-11-21T12:00:00Z"
LABELS = {"trainwright.dev/job-uid": UID, "trainwright.dev/attempt": "3"}


def pod(status: Any = None, limits: Any = None, **metadata: Any) -> Pod:
    raw = {
        "metadata": {"name": "flights-0", "namespace": "teams", "uid": "p-1", "labels": LABELS, **metadata},
        "spec": {"nodeName": "gpu-7", "containers": [{"name": "trainer", "resources": {"limits": limits}}]},
        "status": status,
    }
    found = read_pod(raw)
    assert found is not None
    return found


def ended(name: str = "trainer", **state: Any) -> dict[str, Any]:
    return {"containerStatuses": [{"name": name, "state": {"terminated": {"startedAt": RAN, **state}}}]}


def waiting(reason: str, message: str = "", key: str = "containerStatuses") -> dict[str, Any]:
    return {key: [{"name": "trainer", "image": "ml:1", "state": {"waiting": {"reason": reason, "message": message}}}]}


def condition(kind: str, status: str = "True", **more: str) -> dict[str, Any]:
    return {"conditions": [{"type": kind, "status": status, **more}]}


def test_whose_it_is() -> None:
    found = pod({"phase": "Running"})
    assert (found.namespace, found.name, found.uid, found.node) == ("teams", "flights-0", "p-1", "gpu-7")
    assert (found.job_uid, found.attempt, found.phase) == (UID, 3, "Running")


@pytest.mark.parametrize("labels", [None, {}, {"trainwright.dev/job-uid": 5}, {"app": "other"}])
def test_a_pod_of_no_job_is_none_of_ours(labels: Any) -> None:
    assert read_pod({"metadata": {"name": "x", "labels": labels}}) is None


def test_a_new_one_is_pending() -> None:
    assert (pod().phase, pod().ready, pod().started) == ("Pending", False, None)


def test_it_is_ready_where_the_condition_holds() -> None:
    assert pod(condition("Ready")).ready
    assert not pod(condition("Ready", "False")).ready


@pytest.mark.parametrize(
    ("state", "phase", "words"),
    [
        ({"exitCode": 1, "reason": "Error"}, "Failed", "init container fetch ended with exit code 1"),
        (
            {"exitCode": 137, "reason": "OOMKilled"},
            "Failed",
            "init container fetch ended with exit code 137 (OOMKilled)",
        ),
        ({"exitCode": 0, "reason": "Completed"}, "Failed", ""),
        ({"exitCode": 1, "reason": "Error"}, "Pending", ""),
    ],
)
def test_an_init_container_that_fails_the_pod(state: dict[str, Any], phase: str, words: str) -> None:
    status = {"phase": phase, "initContainerStatuses": [{"name": "fetch", "state": {"terminated": state}}]}
    assert (pod(status).init_failure, pod(status).exit_code) == (words, None)
    assert pod({**status, "reason": "Evicted"}).init_failure == ""


def test_its_grace_period_ends_at_its_deletion_time() -> None:
    assert pod(deletionTimestamp=RAN).deletion_time == datetime(2026, 11, 21, 12, tzinfo=UTC)


def test_the_training_container_says_how_it_ended() -> None:
    found = pod({"phase": "Failed", **ended(exitCode=3, message='{"outcome": "environment"}', reason="Error")})
    assert (found.exit_code, found.termination_message) == (3, '{"outcome": "environment"}')
    assert (found.reason, found.ended) == ("Error", True)
    assert found.started == datetime(2026, 11, 21, 12, tzinfo=UTC)


def test_the_message_of_an_init_container_does_not_hide_that_of_the_trainer() -> None:
    fetch = {"name": "fetch", "state": {"terminated": {"exitCode": 0, "message": "fetched 3 files"}}}
    found = pod({**ended(exitCode=3, message="the trainer's"), "initContainerStatuses": [fetch]})
    assert found.termination_message == "the trainer's"
    assert pod({"initContainerStatuses": [fetch]}).termination_message == "fetched 3 files"


@pytest.mark.parametrize("container", ["ray", "submitter", "wait-gcs-ready"])
def test_exit_codes_of_rays_own_containers_mean_other_things(container: str) -> None:
    found = pod(ended(container, exitCode=1, message="the last line"))
    assert (found.exit_code, found.termination_message) == (None, "the last line")


def test_a_good_end_needs_no_reason() -> None:
    assert pod(ended(exitCode=0, reason="Completed")).reason == ""


def test_the_kubelets_reason_comes_before_the_containers() -> None:
    assert pod(ended(exitCode=137, reason="OOMKilled")).reason == "OOMKilled"
    assert pod({"reason": "Evicted", **ended(exitCode=137, reason="Error")}).reason == "Evicted"


def test_the_limit_is_that_of_a_container_that_was_killed_for_memory() -> None:
    limits, killed = {"memory": "4Gi"}, ended(exitCode=137, reason="OOMKilled")
    assert pod(killed, limits).memory_limit == "4Gi"
    assert pod(killed).memory_limit == ""
    assert pod(ended("another", exitCode=137, reason="OOMKilled"), limits).memory_limit == ""
    assert pod(ended(exitCode=1, reason="Error"), limits).memory_limit == ""


def test_a_disruption_is_named() -> None:
    found = pod(condition("DisruptionTarget", reason="PreemptionByScheduler", message="for another pod"))
    assert (found.disrupted, found.disruption) == ("PreemptionByScheduler", "for another pod")
    assert pod(condition("DisruptionTarget", "False", reason="PreemptionByScheduler")).disrupted == ""


def test_why_it_does_not_start() -> None:
    assert pod(waiting("ImagePullBackOff", "no such image")).waiting == "ImagePullBackOff: no such image"
    assert pod(waiting("CreateContainerConfigError")).waiting == "CreateContainerConfigError"
    assert pod(waiting("ErrImagePull", key="initContainerStatuses")).waiting == "ErrImagePull"
    assert pod(waiting("ErrImagePull", key="initContainerStatuses")).waiting_image == "ml:1"
    assert pod(waiting("ContainerCreating")).waiting == ""
    assert pod(waiting("ContainerCreating")).waiting_image == ""
    assert pod(waiting("PodInitializing")).waiting == ""


def test_why_no_node_takes_it() -> None:
    words = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."
    without_room = pod(
        condition("PodScheduled", "False", reason="Unschedulable", message=words, lastTransitionTime=RAN)
    )
    assert without_room.unschedulable == words
    assert without_room.unschedulable_since == datetime(2026, 11, 21, 12, tzinfo=UTC)
    assert pod(condition("PodScheduled", "False", reason="SchedulingGated", message="gate")).unschedulable == ""


def test_it_was_scheduled_when_it_got_its_node() -> None:
    assert pod(condition("PodScheduled", lastTransitionTime=RAN)).scheduled == datetime(2026, 11, 21, 12, tzinfo=UTC)
    assert pod(creationTimestamp=RAN).scheduled == datetime(2026, 11, 21, 12, tzinfo=UTC), "it was made with a node"
    without = {"metadata": {"labels": LABELS, "creationTimestamp": RAN}, "status": {}}
    found = read_pod(without)
    assert found is not None
    assert found.scheduled is None


def test_it_started_when_its_container_ran() -> None:
    running = {"containerStatuses": [{"name": "ray", "state": {"running": {"startedAt": RAN}}}]}
    assert pod(running).started == datetime(2026, 11, 21, 12, tzinfo=UTC)
    prepares = {"initContainerStatuses": [{"name": "wait", "state": {"running": {"startedAt": RAN}}}]}
    assert pod(prepares).started is None
