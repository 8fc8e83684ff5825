"""The life of a job that preprocesses on CPUs before it requests GPUs, one scenario a test."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from trainwright_operator.decide.plan import plan
from trainwright_operator.model.observed import Pod
from trainwright_operator.model.plan import Lookup

from .simulation import SETTINGS, SPEC, UID, Cluster

BACKEND = {
    "type": "ray",
    "cache_dir": "s3://data/cache",
    "processor": {"type": "pandas"},
    "trainer": {"num_workers": 2, "resources_per_worker": {"GPU": 1}},
}
FIRST, SECOND = "flights-1c9e2f7a-1-preprocess", "flights-1c9e2f7a-1-train"


def preprocessing(**spec: object) -> Cluster:
    cluster = Cluster(spec={**SPEC, "backend": BACKEND, **spec})
    cluster.settle()
    cluster.starts()
    cluster.settle()
    return cluster


def handed_on(**spec: object) -> Cluster:
    """Return a cluster whose training child exists and waits for room."""
    cluster = preprocessing(**spec)
    cluster.wait(40)
    cluster.posts("done", "336,776 rows")
    cluster.ends()
    cluster.settle()
    return cluster


def training(**spec: object) -> Cluster:
    cluster = handed_on(**spec)
    cluster.starts()
    cluster.settle()
    return cluster


def pod(cluster: Cluster, **fields: object) -> Pod:
    attempt, work = cluster.status.attempt or 0, cluster.child.stage
    whole = Pod("default", f"pod-{work}", f"uid-of-{work}", UID, attempt, "node-1", "Running", work)
    return replace(whole, **fields)


def test_cpus_come_before_gpus() -> None:
    cluster = preprocessing()
    assert cluster.created == [FIRST]
    assert (cluster.child.kind, cluster.status.child) == ("Job", FIRST)
    assert "nvidia.com/gpu" not in str(cluster.manifests)
    cluster = handed_on()
    assert cluster.created == [FIRST, SECOND]
    assert (cluster.child.kind, cluster.child.name, cluster.status.child) == ("RayJob", SECOND, SECOND)
    assert "nvidia.com/gpu" in str(cluster.manifests[-1])
    assert cluster.status.attempt == 1


@pytest.mark.parametrize("processor", ["dask", "modin"])
def test_a_distributed_processor_prepares_the_data_in_a_cluster_of_cpus(processor: str) -> None:
    cluster = handed_on(backend={**BACKEND, "processor": {"type": processor}})
    assert cluster.created == [FIRST, SECOND]
    assert [manifest["kind"] for manifest in cluster.manifests[-2:]] == ["RayJob", "RayJob"]
    assert "nvidia.com/gpu" not in str(cluster.manifests[-2])
    assert "nvidia.com/gpu" in str(cluster.manifests[-1])
    assert cluster.status.preprocessed.child == FIRST


def test_what_is_done_now_can_be_read() -> None:
    cluster = preprocessing()
    assert (cluster.status.phase, cluster.condition("Running")) == ("Running", ("True", "Preprocessing"))
    assert cluster.status.message == "preprocessing on CPUs; GPUs are asked for when that is done"
    (attempt,) = cluster.status.attempts or []
    assert (attempt.stage, attempt.child) == ("preprocess", FIRST)
    cluster = training()
    assert (cluster.status.phase, cluster.condition("Running")) == ("Running", ("True", "Running"))
    assert cluster.status.message is None
    events = [(event.reason, event.message) for event in cluster.events]
    assert events[0][1].endswith("; preprocessed on CPUs first")
    assert events[1:] == [
        ("Started", f"attempt 1: Job {FIRST}"),
        ("Preprocessed", "attempt 1: 336,776 rows"),
        ("Started", f"attempt 1: RayJob {SECOND}"),
    ]


def test_that_it_is_done_is_written_before_anything_is_deleted_or_created() -> None:
    cluster = preprocessing()
    cluster.ends()
    cluster.run()
    done = cluster.status.preprocessed
    assert done is not None
    assert (done.attempt, done.child) == (1, FIRST)
    assert list(cluster.children) == [FIRST]
    cluster.run()
    assert not cluster.children
    cluster.run()
    assert list(cluster.children) == [SECOND]


def test_the_second_stage_begins_only_after_the_first_and_its_pods_were_asked_for() -> None:
    cluster = preprocessing()
    unseen = pod(cluster)
    cluster.ends()
    cluster.run()
    cluster.run()
    assert plan(cluster.job(), cluster.snapshot(), SETTINGS, cluster.now).lookups == (
        Lookup("pods"),
        Lookup("child", FIRST, "Job"),
    )
    answers = {"pods_fresh": True, "gone": frozenset({FIRST})}
    assert not plan(cluster.job(), cluster.snapshot(pods=(unseen,), **answers), SETTINGS, cluster.now).create
    assert plan(cluster.job(), cluster.snapshot(**answers), SETTINGS, cluster.now).create


def test_the_job_ends_with_its_second_stage() -> None:
    cluster = training()
    cluster.posts("done", test_scores={"roc_auc": 0.748})
    cluster.ends()
    cluster.settle()
    assert (cluster.status.phase, cluster.status.test_scores) == ("Complete", {"roc_auc": 0.748})
    assert [attempt.number for attempt in cluster.status.attempts or []] == [1]


@pytest.mark.parametrize("outcome", ["done", "mistake", "stopped"])
def test_a_late_word_of_the_first_stage_does_not_end_the_second(outcome: str) -> None:
    cluster = training()
    cluster.posts(outcome, "late", stage="preprocess")
    cluster.wait(10 * SETTINGS.stop_grace)
    cluster.settle()
    assert (cluster.status.phase, list(cluster.children)) == ("Running", [SECOND])
    cluster.ends(exit_code=3)
    cluster.settle()
    (attempt,) = cluster.status.attempts or []
    assert (attempt.outcome, attempt.message) == (
        "environment",
        "RayJob flights-1c9e2f7a-1-train failed and gave no reason",
    )


def test_of_two_stages_a_word_that_names_none_is_not_clear() -> None:
    cluster = training()
    cluster.posts("mistake", "of whom?", stage=None)
    cluster.wait(10 * SETTINGS.stop_grace)
    cluster.settle()
    assert cluster.status.phase == "Running"


def test_no_later_attempt_preprocesses_again() -> None:
    cluster = training()
    cluster.ends(exit_code=1)
    cluster.settle()
    cluster.wait(20)
    cluster.settle()
    assert cluster.created == [FIRST, SECOND, "flights-1c9e2f7a-2-train"]


def test_a_failure_of_the_first_stage_is_budgeted_and_the_next_attempt_begins_with_it_again() -> None:
    cluster = preprocessing(backoffLimit=1)
    cluster.ends(exit_code=3)
    cluster.settle()
    assert (cluster.status.retries, cluster.condition("Running")) == (1, ("False", "BackOff"))
    cluster.wait(20)
    cluster.settle()
    assert (cluster.status.attempt, cluster.child.name) == (2, "flights-1c9e2f7a-2-preprocess")
    cluster.ends(exit_code=3)
    cluster.settle()
    assert cluster.condition("Failed") == ("True", "BackoffLimitExceeded")
    assert list(cluster.children) == ["flights-1c9e2f7a-2-preprocess"], "it is kept for its logs"


def test_a_mistake_in_the_data_costs_no_gpu() -> None:
    cluster = preprocessing()
    cluster.posts("mistake", "config.input_features[0].column: 'dep_dely' is not in the data")
    cluster.ends(exit_code=2)
    cluster.settle()
    assert cluster.status.message == "config.input_features[0].column: 'dep_dely' is not in the data"
    assert (cluster.condition("Failed"), cluster.created) == (("True", "Mistake"), [FIRST])


def test_the_second_stage_waits_until_the_pods_of_the_first_are_gone() -> None:
    cluster = preprocessing()
    cluster.pods = {"one": pod(cluster)}
    cluster.ends()
    cluster.settle()
    assert (cluster.created, cluster.condition("Running")) == ([FIRST], ("False", "WaitingForPods"))
    assert cluster.status.message == "what came before has ended; its pod pod-preprocess is not gone yet"
    cluster.pods = {"one": replace(cluster.pods["one"], phase="Succeeded")}
    cluster.settle()
    assert cluster.created == [FIRST, SECOND]


def test_the_second_stage_waits_until_the_child_of_the_first_is_gone() -> None:
    cluster = preprocessing(backend={**BACKEND, "processor": {"type": "dask"}})
    cluster.ends()
    cluster.run()
    cluster.children[FIRST] = replace(cluster.child, deleting=True)
    cluster.settle()
    assert (cluster.created, cluster.condition("Running")) == ([FIRST], ("False", "WaitingForPods"))
    assert cluster.status.message == f"RayJob {FIRST} has ended and is not gone yet"
    del cluster.children[FIRST]
    cluster.settle()
    assert cluster.created == [FIRST, SECOND]


def test_a_pod_of_the_first_stage_says_nothing_of_the_second() -> None:
    cluster = preprocessing()
    first = pod(cluster, phase="Succeeded", exit_code=3, disrupted="EvictionByEvictionAPI", started=cluster.now)
    first = replace(first, disruption="the node is drained")
    cluster.pods = {"one": first}
    cluster.settle()
    cluster.ends()
    cluster.settle()
    cluster.wait(500)
    cluster.starts()
    cluster.settle()
    (attempt,) = cluster.status.attempts or []
    assert (attempt.start_time, attempt.reason, attempt.message) == ("2026-11-21T12:08:20Z", None, None)
    cluster.ends(exit_code=1)
    cluster.settle()
    assert (cluster.status.attempts or [])[0].outcome == "crash"


def test_one_that_has_posted_its_end_and_does_not_leave_is_deleted_after_the_grace() -> None:
    cluster = preprocessing()
    cluster.posts("done")
    cluster.settle()
    assert list(cluster.children) == [FIRST]
    cluster.wait(SETTINGS.stop_grace)
    cluster.settle()
    assert list(cluster.children) == [SECOND]


def test_suspending_asks_the_first_stage_to_stop_too() -> None:
    cluster = preprocessing()
    cluster.pods = {"one": pod(cluster)}
    cluster.change(suspend=True)
    cluster.settle()
    assert (cluster.status.phase, list(cluster.children)) == ("Stopping", [FIRST])
    cluster.pods = {}
    cluster.ends(exit_code=75)
    cluster.settle()
    assert (cluster.status.phase, cluster.status.retries, cluster.children) == ("Suspended", None, {})
    cluster.change(suspend=False)
    cluster.settle()
    assert cluster.child.name == "flights-1c9e2f7a-2-preprocess"


def test_preprocessing_that_ends_well_while_it_is_suspended_is_not_repeated() -> None:
    cluster = preprocessing()
    cluster.change(suspend=True)
    cluster.settle()
    cluster.ends()
    cluster.settle()
    assert (cluster.status.phase, cluster.children) == ("Suspended", {})
    cluster.change(suspend=False)
    cluster.settle()
    assert cluster.child.name == "flights-1c9e2f7a-2-train"
    assert cluster.condition("Suspended") == ("False", "Resumed")


def test_suspending_between_the_stages_creates_nothing() -> None:
    cluster = preprocessing()
    cluster.ends()
    cluster.run()
    cluster.change(suspend=True)
    cluster.settle()
    assert (cluster.status.phase, cluster.created) == ("Suspended", [FIRST])


def test_the_deadline_counts_both_stages_and_not_the_wait_between() -> None:
    cluster = handed_on(activeDeadlineSeconds=100)
    assert cluster.status.active_seconds == 40
    cluster.wait(10_000)
    cluster.settle()
    assert cluster.status.phase == "Starting"
    cluster.starts()
    cluster.settle()
    assert cluster.decide().wake_at == cluster.now + timedelta(seconds=60)
    cluster.wait(60)
    cluster.settle()
    assert cluster.condition("Failed") == ("True", "DeadlineExceeded")
    assert cluster.status.active_seconds == 100


def test_the_deadline_ends_the_first_stage_too() -> None:
    cluster = preprocessing(activeDeadlineSeconds=30)
    cluster.wait(30)
    cluster.settle()
    assert (cluster.condition("Failed"), cluster.children) == (("True", "DeadlineExceeded"), {})


def test_kueue_may_hold_both_stages_in_its_queue() -> None:
    cluster = Cluster(spec={**SPEC, "backend": BACKEND, "queueName": "gpus"})
    cluster.settle()
    for stage in ("preprocess", "train"):
        assert cluster.child.stage == stage
        assert cluster.manifests[-1]["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "gpus"
        cluster.children[cluster.child.name] = replace(cluster.child, state="suspended")
        cluster.wait(100_000)
        cluster.settle()
        assert cluster.status.phase == "Queued"
        cluster.starts()
        cluster.settle()
        cluster.ends()
        cluster.settle()
    assert (cluster.status.phase, cluster.status.attempt, cluster.status.active_seconds) == ("Complete", 1, 0)


def test_kueue_may_send_the_first_stage_back() -> None:
    cluster = preprocessing(queueName="gpus")
    cluster.children[FIRST] = replace(cluster.child, state="suspended")
    cluster.settle()
    assert (cluster.status.preemptions, cluster.child.name) == (1, "flights-1c9e2f7a-2-preprocess")


def test_the_time_to_live_finds_either_child() -> None:
    for cluster in (preprocessing(ttlSecondsAfterFinished=60), training(ttlSecondsAfterFinished=60)):
        cluster.ends(exit_code=2)
        cluster.settle()
        assert cluster.children
        cluster.wait(60)
        cluster.settle()
        assert (cluster.children, cluster.shared, cluster.status.child) == ({}, set(), None)


def test_without_kuberay_nobody_preprocesses_for_nothing() -> None:
    cluster = Cluster(spec={**SPEC, "backend": BACKEND}, kuberay=False)
    cluster.settle()
    assert (cluster.condition("Stalled"), cluster.created) == (("True", "KubeRayMissing"), [])


def test_a_missing_child_of_the_first_stage_is_asked_for_by_its_own_kind() -> None:
    cluster = preprocessing()
    cluster.children.clear()
    (lookup,) = plan(cluster.job(), cluster.snapshot(), SETTINGS, cluster.now).lookups
    assert (lookup.name, lookup.kind) == (FIRST, "Job")
