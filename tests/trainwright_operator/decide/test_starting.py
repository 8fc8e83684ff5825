"""A job before its attempt runs: what is checked first, what it waits for, and what it says meanwhile."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from trainwright_api.resource.status import Resolved, TrainingJobStatus
from trainwright_operator.decide.plan import plan
from trainwright_operator.model.observed import Node, Taint, Waiting
from trainwright_operator.policies.refused_pods import FIRST_LOOK_SECONDS, SECONDS_BETWEEN_LOOKS

from ..simulation import SETTINGS, SPEC, Cluster
from .scenario import RAY, pod, running


def test_the_name_stands_in_the_status_before_anything_is_created() -> None:
    cluster = Cluster()
    cluster.run()
    assert (cluster.status.attempt, cluster.status.child) == (1, "flights-1c9e2f7a-1-train")
    assert cluster.status.start_time is not None
    assert cluster.status.output == "s3://runs/default/flights-1c9e2f7a"
    assert not cluster.children
    cluster.run()
    assert list(cluster.children) == ["flights-1c9e2f7a-1-train"]
    assert "ConfigMap" in cluster.shared


def test_a_job_with_a_thousand_mistakes_says_the_first_of_them() -> None:
    features = [{"name": f"a_feature_with_a_long_name_{at}", "type": "nummber"} for at in range(1000)]
    config = {"input_features": features, "output_features": [{"name": "y", "type": "number"}]}
    cluster = Cluster(spec={**SPEC, "config": config})
    cluster.settle()
    assert cluster.condition("Accepted") == ("False", "Invalid")
    (told,) = [one.message for one in cluster.status.conditions or [] if one.type == "Accepted"]
    assert told.startswith("flights: 1000 ")
    assert told.endswith("\n …")


def test_a_child_that_stopped_because_kueue_suspended_it_is_requeued_at_once() -> None:
    cluster = running()
    cluster.posts("stopped")
    cluster.children[cluster.child.name] = replace(cluster.child, state="suspended")
    cluster.settle()
    assert (cluster.status.attempts or [])[0].reason == "Requeued"


def test_kueue_holds_a_child_in_its_queue() -> None:
    cluster = Cluster(spec={**SPEC, "queueName": "gpus"})
    cluster.settle()
    cluster.children[cluster.child.name] = replace(cluster.child, state="suspended")
    cluster.settle()
    child = cluster.child
    assert (cluster.status.phase, cluster.status.message) == ("Queued", f"Job {child.name} waits in its queue")
    assert cluster.condition("Running") == ("False", "WaitsInQueue")
    cluster.queued[child.uid] = "insufficient quota for cpu"
    cluster.settle()
    assert cluster.status.message == f"Job {child.name} waits in its queue: insufficient quota for cpu"
    cluster.starts()
    cluster.settle()
    cluster.children[child.name] = replace(cluster.child, state="suspended")
    cluster.queued[child.uid] = "Preempted to accommodate another workload"
    cluster.settle()
    assert (cluster.status.attempt, cluster.status.preemptions, cluster.status.retries) == (2, 1, None)
    ended = (cluster.status.attempts or [])[0]
    assert ended.message == f"{child.name} was sent back to its queue: Preempted to accommodate another workload"


@pytest.mark.parametrize("has_queue", [True, False])
def test_a_gang_in_a_default_queue_of_kueue_gives_its_nodes_to_no_other(has_queue: bool) -> None:
    """Kueue sets the label of the queue itself, so the spec does not name it."""
    cluster = Cluster(spec=RAY)
    cluster.settle()
    cluster.children[cluster.child.name] = replace(cluster.child, has_queue=has_queue)
    cluster.waiting = (Waiting("", "other", gang=True, trying=True, gpus=0),)
    cluster.wait(1000)
    cluster.settle()
    assert cluster.status.attempts is not None
    assert (cluster.status.attempts[0].reason is None) is has_queue


def test_pods_that_a_quota_refuses_are_explained_until_they_exist() -> None:
    cluster = Cluster(pods_refused="exceeded quota: team")
    cluster.settle()
    name = cluster.child.name
    assert cluster.status.message == f"Job {name} is being started"
    cluster.wait(FIRST_LOOK_SECONDS)
    cluster.settle()
    assert (cluster.status.phase, cluster.status.message) == (
        "Starting",
        f"pods of Job {name} cannot be created: exceeded quota: team",
    )
    assert cluster.condition("Running") == ("False", "CannotStart")
    assert cluster.decide().wake_at == cluster.now + timedelta(seconds=SECONDS_BETWEEN_LOOKS)
    cluster.pods = {"one": pod(cluster, phase="Pending")}
    cluster.settle()
    assert cluster.status.message == f"Job {name} is being started"


def test_a_ray_job_says_itself_that_its_pods_are_refused() -> None:
    cluster = Cluster(spec=RAY)
    cluster.settle()
    name = cluster.child.name
    cluster.children[name] = replace(cluster.child, pods_refused="exceeded quota: team")
    cluster.settle()
    assert cluster.status.message == f"pods of RayJob {name} cannot be created: exceeded quota: team"


def test_waiting_for_room_is_queued_and_burns_no_retry() -> None:
    cluster = Cluster()
    cluster.settle()
    cluster.pods = {"one": pod(cluster, phase="Pending", node=None, unschedulable="0/3 nodes are available")}
    cluster.settle()
    assert cluster.status.phase == "Queued"
    assert cluster.status.message == "pods wait for room: 0/3 nodes are available"
    cluster.wait(100_000)
    cluster.settle()
    assert (cluster.status.phase, cluster.status.retries) == ("Queued", None)


def test_what_is_doubtful_of_an_accepted_spec_is_reported_by_its_event() -> None:
    """If the webhook is off, only this event reports the warning."""
    cluster = Cluster(warnings=("config.trainer.optimizer: not built yet: lbfgs; image mine:2 must have it",))
    cluster.settle()
    (accepted,) = [event for event in cluster.events if event.reason == "Accepted"]
    assert accepted.message.endswith("; config.trainer.optimizer: not built yet: lbfgs; image mine:2 must have it")


@pytest.mark.parametrize(
    ("trainer", "template", "says_so"),
    [
        ({}, {}, True),
        ({"use_gpu": False}, {}, False),
        ({"num_workers": 2, "resources_per_worker": {"GPU": 0}}, {}, False),
        ({"use_gpu": True}, {}, False),
        ({}, {"nodeSelector": {"pool": "other"}}, False),
        ({}, {"worker": {"tolerations": [{"key": "dedicated", "operator": "Exists"}]}}, False),
    ],
)
def test_a_taint_that_keeps_a_job_off_the_gpus_is_named(
    trainer: dict[str, object], template: dict[str, object], says_so: bool
) -> None:
    taints = (Taint("node.kubernetes.io/disk-pressure", "NoSchedule"), Taint("dedicated", "NoSchedule", "ml"))
    nodes = (Node("a", True, False, {}, (), {"cpu": 8}), Node("b", True, False, {}, taints[1:], {"nvidia.com/gpu": 2}))
    spec = {**SPEC, "backend": {"type": "ray", "trainer": trainer}, "podTemplate": template}
    cluster = Cluster(spec=spec, nodes=nodes)
    cluster.in_use = {}
    cluster.settle()
    words = (
        "no GPU: to use those of node b, tolerate its taint dedicated=ml:NoSchedule in podTemplate.worker.tolerations"
    )
    (accepted,) = [event for event in cluster.events if event.reason == "Accepted"]
    assert (words in accepted.message) is says_so
    cluster = Cluster(spec=spec, nodes=(replace(nodes[1], taints=taints[:1]),))
    cluster.in_use = {}
    cluster.settle()
    assert not any("tolerate" in event.message for event in cluster.events)


def test_an_invalid_spec_is_not_accepted_and_can_be_mended() -> None:
    cluster = Cluster(spec={**SPEC, "config": None})
    cluster.settle()
    assert (cluster.status.phase, cluster.condition("Accepted")) == ("Invalid", ("False", "Invalid"))
    assert cluster.condition("Stalled") == ("True", "Invalid")
    cluster.change(config=SPEC["config"])
    cluster.settle()
    assert cluster.condition("Accepted") == ("True", "Accepted")
    assert cluster.children


def test_each_mistake_of_a_spec_that_is_mended_step_by_step_is_one_event() -> None:
    cluster = Cluster(spec={**SPEC, "config": None, "backend": 7})
    cluster.settle()
    cluster.change(backend=SPEC.get("backend"))
    cluster.settle()
    mistakes = [event.message for event in cluster.events if event.reason == "Invalid"]
    assert [("backend" in mistake, "config" in mistake) for mistake in mistakes] == [(True, True), (False, True)]


def test_a_change_after_the_start_is_reported_and_changes_nothing() -> None:
    cluster = running()
    cluster.change(dataset="s3://data/others.parquet")
    cluster.settle()
    assert cluster.condition("Accepted") == ("False", "ChangedAfterStart")
    assert cluster.status.phase == "Running"
    cluster.change(dataset=SPEC["dataset"])
    cluster.settle()
    assert cluster.condition("Accepted") == ("True", "Accepted")


def test_a_mistake_after_the_start_is_reported_until_it_is_corrected() -> None:
    cluster = running()
    cluster.change(podTemplate=7)
    cluster.settle()
    assert (cluster.status.phase, cluster.condition("Accepted")) == ("Running", ("False", "Invalid"))
    assert "podTemplate" in (cluster.status.message or "")
    cluster.ends(exit_code=1)
    cluster.wait(1000)
    cluster.settle()
    assert (cluster.status.attempt, cluster.condition("Stalled")) == (1, ("True", "Invalid"))
    assert "podTemplate" in (cluster.status.message or "")
    cluster.change(podTemplate=None)
    cluster.settle()
    assert (cluster.status.attempt, cluster.condition("Accepted")) == (2, ("True", "Accepted"))


@pytest.mark.parametrize("change", [{"podTemplate": 7}, {"dataset": "s3://other"}], ids=["a mistake", "a change"])
def test_a_rejection_before_the_child_is_created_ends_when_it_is_corrected(change: dict[str, object]) -> None:
    cluster = Cluster()
    cluster.run()
    cluster.change(**change)
    cluster.settle()
    assert not cluster.children
    cluster.spec = dict(SPEC)
    cluster.generation += 1
    cluster.settle()
    assert (len(cluster.children), cluster.condition("Accepted")) == (1, ("True", "Accepted"))


def test_a_changed_job_starts_no_further_attempt() -> None:
    cluster = running()
    cluster.change(dataset="s3://data/others.parquet")
    cluster.ends(exit_code=1)
    cluster.wait(1000)
    cluster.settle()
    assert (cluster.status.attempt, cluster.condition("Stalled")) == (1, ("True", "ChangedAfterStart"))
    cluster.change(dataset=SPEC["dataset"])
    cluster.settle()
    assert cluster.status.attempt == 2


def test_a_ray_job_waits_for_kuberay() -> None:
    cluster = Cluster(spec=RAY, kuberay=False)
    cluster.settle()
    assert cluster.condition("Stalled") == ("True", "KubeRayMissing")
    cluster.kuberay = True
    cluster.settle()
    assert cluster.child.kind == "RayJob"


@pytest.mark.parametrize(("kuberay", "chosen", "kind"), [(True, "ray", "RayJob"), (False, "local", "Job")])
def test_a_missing_backend_is_chosen_once_for_all_attempts(kuberay: bool, chosen: str, kind: str) -> None:
    open_backend = {"trainer": {"num_workers": 2, "resources_per_worker": {"CPU": 3}}}
    cluster = Cluster(spec={**SPEC, "backend": open_backend}, kuberay=kuberay)
    cluster.settle()
    (event,) = (event for event in cluster.events if event.reason == "BackendChosen")
    assert event.message.startswith(f"backend {chosen}: the file names none")
    (accepted,) = [one.message for one in cluster.status.conditions or [] if one.type == "Accepted"]
    says_so = "KubeRay is not installed, so backend.trainer does not act" in accepted
    assert (event.type, says_so) == (("Normal", False) if kuberay else ("Warning", True))
    cluster.kuberay = True
    cluster.status = TrainingJobStatus()
    cluster.settle()
    cluster.ends(exit_code=1)
    for _ in range(2):
        cluster.settle()
        cluster.wait(1000)
    assert cluster.status.resolved is not None
    assert (cluster.status.resolved.backend, cluster.status.attempt, cluster.child.kind) == (chosen, 2, kind)
    assert cluster.status.resolved.workers == (2 if kuberay else 1)
    if not kuberay:
        (container,) = cluster.manifests[-1]["spec"]["template"]["spec"]["containers"]
        assert container["resources"]["requests"] == {"cpu": "1"}


def test_a_child_that_the_api_server_refuses_is_reported_and_tried_again() -> None:
    cluster = Cluster()
    cluster.run()
    refused = plan(cluster.job(), cluster.snapshot(refused="Job x cannot be created: no"), SETTINGS, cluster.now)
    assert not refused.create
    assert refused.status is not None
    assert refused.status.message == "Job x cannot be created: no"
    cluster.status = refused.status
    assert cluster.condition("Stalled") == ("True", "CannotCreate")
    cluster.settle()
    assert (cluster.condition("Stalled"), cluster.status.message) == (
        ("False", "Progressing"),
        "Job flights-1c9e2f7a-1-train is being started",
    )


def test_a_child_that_a_quota_does_not_admit_waits() -> None:
    cluster = Cluster()
    cluster.run()
    words = 'Job x cannot be created: jobs.batch "x" is forbidden: exceeded quota: team, limited: count/jobs.batch=1'
    found = plan(cluster.job(), cluster.snapshot(refused=words), SETTINGS, cluster.now).status
    assert found is not None
    cluster.status = found
    assert (found.phase, found.message, cluster.condition("Stalled")) == ("Queued", words, ("False", "Progressing"))
    assert cluster.condition("Running") == ("False", "QuotaExceeded")


def resolved_after(cluster: Cluster, **spec: object) -> Resolved:
    """Change the spec, and return the resolved values of the next attempt."""
    cluster.change(**spec)
    cluster.ends(exit_code=143)
    cluster.settle()
    cluster.wait(1000)
    cluster.settle()
    assert cluster.status.resolved is not None
    return cluster.status.resolved


def test_an_image_that_was_mended_is_taken_by_the_next_attempt_and_the_charts_is_kept() -> None:
    cluster = running()
    first = cluster.status.resolved
    cluster.settings = replace(SETTINGS, image="trainwright:9.9.9")
    for spec, image in (({}, SETTINGS.image), ({"image": "mine:2"}, "mine:2")):
        assert resolved_after(cluster, **spec).image == image
    assert first is not None
    assert cluster.status.resolved == first.model_copy(update={"image": "mine:2", "own_image": True})


def test_an_image_that_is_no_longer_named_gives_way_to_the_charts() -> None:
    cluster = running(image="mine:2")
    cluster.settings = replace(SETTINGS, image="trainwright:9.9.9", cpu_image="cpu:9.9.9", ray_version="9.9.9")
    for spec, image, ray in (({}, "mine:2", SETTINGS.ray_version), ({"image": None}, "trainwright:9.9.9", "9.9.9")):
        found = resolved_after(cluster, **spec)
        assert (found.image, found.ray_version) == (image, ray)
    assert (found.cpu_image, found.own_image) == ("cpu:9.9.9", None)


def test_a_kept_image_keeps_its_version_of_ray() -> None:
    cluster = Cluster(spec=RAY)
    cluster.settle()
    cluster.settings = replace(SETTINGS, image="trainwright:9.9.9", ray_version="9.9.9")
    for spec, version in (
        ({}, SETTINGS.ray_version),
        ({"image": "mine:2"}, "9.9.9"),
        ({"rayVersion": "9.9.8"}, "9.9.8"),
    ):
        resolved_after(cluster, **spec)
        assert cluster.manifests[-1]["spec"]["rayClusterSpec"]["rayVersion"] == version


def test_pods_without_devices_keep_the_image_that_the_chart_had_until_the_job_names_one() -> None:
    cluster = Cluster(settings=replace(SETTINGS, cpu_image="trainwright-cpu:0.1.0"))
    cluster.settle()
    cluster.settings = replace(SETTINGS, cpu_image="trainwright-cpu:9.9.9")
    for spec, image in (({}, "trainwright-cpu:0.1.0"), ({"image": "mine:2"}, None)):
        assert resolved_after(cluster, **spec).cpu_image == image
