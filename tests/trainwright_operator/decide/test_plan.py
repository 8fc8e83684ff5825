"""The life of a job, one scenario a test: checks the plans, and that a stable job causes no writes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from trainwright_api.resource.status import Progress, Resolved, TrainingJobStatus
from trainwright_operator.children import read_child
from trainwright_operator.decide.context import Context
from trainwright_operator.decide.plan import SITUATIONS, plan
from trainwright_operator.job_defaults import JobDefaults
from trainwright_operator.model import times
from trainwright_operator.model.observed import Held, Node, Pod
from trainwright_operator.model.plan import Lookup
from trainwright_operator.policies.refused_pods import FIRST_LOOK_SECONDS, SECONDS_BETWEEN_LOOKS
from trainwright_operator.policies.retry import due
from trainwright_operator.policy import Policy

from ..elastic_cluster import node, started
from ..simulation import SETTINGS, SPEC, UID, Cluster

RAY = {**SPEC, "backend": {"type": "ray", "trainer": {"num_workers": 2, "resources_per_worker": {"CPU": 2}}}}


def running(**spec: object) -> Cluster:
    cluster = Cluster(spec={**SPEC, **spec})
    cluster.settle()
    cluster.starts()
    cluster.settle()
    return cluster


def pod(cluster: Cluster, **fields: object) -> Pod:
    attempt = cluster.status.attempt or 0
    return replace(Pod("default", f"pod-{attempt}", f"pod-uid-{attempt}", UID, attempt, "node-1", "Running"), **fields)


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


def test_a_job_completes_however_long_its_location_is() -> None:
    cluster = running(output="s3://bucket/" + "r" * 4084)
    cluster.ends()
    cluster.settle()
    assert cluster.status.phase == "Complete"
    assert cluster.status.model == f"{cluster.status.output}/model"


def test_a_job_runs_and_completes() -> None:
    cluster = running()
    assert (cluster.status.phase, cluster.condition("Running")) == ("Running", ("True", "Running"))
    cluster.posts("done", test_scores={"roc_auc": 0.748}, model="s3://runs/default/flights-1c9e2f7a/model")
    cluster.ends()
    cluster.settle()
    assert cluster.status.phase == "Complete"
    assert cluster.condition("Complete") == ("True", "Done")
    assert cluster.condition("Reconciling") == ("False", "Done")
    assert cluster.status.message == "test roc_auc 0.748; model s3://runs/default/flights-1c9e2f7a/model"
    assert cluster.status.test_scores == {"roc_auc": 0.748}
    reasons = [event.reason for event in cluster.events]
    assert reasons == ["Accepted", "Started", "Complete"]


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


@pytest.mark.parametrize("seen", ["Running", "Succeeded"])
def test_a_job_does_not_start_again_between_the_end_of_its_pod_and_its_own(seen: str) -> None:
    """The Job may report that no pod is ready before the end of the pod is seen."""
    cluster = running()
    cluster.children[cluster.child.name] = replace(cluster.child, state="pending")
    cluster.pods["pod-1"] = pod(cluster, phase=seen)
    cluster.settle()
    assert (cluster.status.phase, cluster.condition("Running")) == ("Running", ("True", "Running"))


def test_without_a_posted_outcome_the_model_is_where_the_run_folder_has_it() -> None:
    cluster = running()
    cluster.ends()
    cluster.settle()
    assert cluster.status.model == "s3://runs/default/flights-1c9e2f7a/model"


def test_a_train_function_of_the_user_has_no_model_and_its_line_is_the_message() -> None:
    entrypoint = {"module": "m", "function": "f"}
    trainer = {"type": "ray", "trainer": {"num_workers": 2}}
    cluster = running(config=None, dataset=None, entrypoint=entrypoint, backend=trainer)
    line = "done in 9 s · 5 reports · best val_loss 0.1 (report 5)"
    cluster.posts("done", line)
    cluster.ends()
    cluster.settle()
    assert (cluster.status.phase, cluster.status.message, cluster.status.model) == ("Complete", line, None)


def test_a_mistake_fails_once_and_its_line_is_the_message() -> None:
    cluster = running()
    cluster.posts("mistake", "config.input_features[0].column: 'dep_dely' is not in the data")
    cluster.ends(exit_code=2)
    cluster.settle()
    assert cluster.status.phase == "Failed"
    assert cluster.status.message == "config.input_features[0].column: 'dep_dely' is not in the data"
    assert cluster.condition("Failed") == ("True", "Mistake")
    assert cluster.condition("Stalled") == ("True", "Mistake")
    assert cluster.created == ["flights-1c9e2f7a-1-train"]


def test_a_crash_is_tried_again_after_a_pause_and_counts() -> None:
    cluster = running(backoffLimit=1)
    cluster.ends(exit_code=1, message="Job entrypoint command failed")
    cluster.settle()
    assert not cluster.children
    assert cluster.status.retries == 1
    assert cluster.condition("Running") == ("False", "BackOff")
    assert cluster.status.message == "attempt 1 ended: Job entrypoint command failed"
    (told,) = [one.message for one in cluster.status.conditions or [] if one.type == "Running"]
    (last,) = cluster.status.attempts or []
    pause = due(cluster.status, last, UID, SETTINGS.backoff)
    assert pause is not None
    assert told == f"attempt 1 ended (Crash); attempt 2, retry 1 of 1, follows at {times.written(pause)}"
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


def test_the_time_to_live_removes_what_the_job_has_started() -> None:
    cluster = running(ttlSecondsAfterFinished=60)
    cluster.ends()
    cluster.settle()
    assert cluster.children
    cluster.wait(60)
    cluster.settle()
    assert not cluster.children
    assert not cluster.shared
    assert (cluster.status.phase, cluster.status.child, cluster.deleted) == ("Complete", None, False)


def test_the_time_to_live_removes_the_job_where_its_policy_says_so() -> None:
    cluster = running(ttlSecondsAfterFinished=0, ttlPolicy="DeleteJob")
    cluster.ends()
    cluster.run()
    cluster.run()
    assert cluster.deleted


def test_a_child_that_somebody_deletes_is_lost_infrastructure() -> None:
    cluster = running()
    cluster.children.clear()
    cluster.settle()
    (attempt,) = cluster.status.attempts or []
    assert (attempt.outcome, attempt.reason) == ("infrastructure", "ChildGone")
    assert cluster.status.retries == 1


def test_a_child_that_is_gone_after_it_posted_its_end_is_taken_at_its_word() -> None:
    cluster = running()
    cluster.posts("done")
    cluster.children.clear()
    cluster.settle()
    assert cluster.status.phase == "Complete"


def test_a_missing_child_counts_only_after_it_was_asked_for() -> None:
    cluster = running()
    cluster.children.clear()
    (lookup,) = plan(cluster.job(), cluster.snapshot(), SETTINGS, cluster.now).lookups
    assert (lookup.target, lookup.name, lookup.kind) == ("child", "flights-1c9e2f7a-1-train", "Job")


def test_an_attempt_counts_as_lost_only_after_its_pods_were_asked_for() -> None:
    cluster = running()
    cluster.ends(exit_code=137)
    assert plan(cluster.job(), cluster.snapshot(), SETTINGS, cluster.now).lookups == (Lookup("pods"),)
    unseen = pod(cluster, disrupted="PreemptionByScheduler")
    decided = plan(cluster.job(), cluster.snapshot(pods=(unseen,), pods_fresh=True), SETTINGS, cluster.now)
    assert decided.status is not None
    assert (decided.status.attempts or [])[0].outcome == "preempted"


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


@pytest.mark.parametrize("end", ["out of time", "sent back to its queue", "stopped"])
def test_a_child_that_may_have_ended_unseen_is_asked_for_before_its_attempt_is_closed(end: str) -> None:
    cluster = running(activeDeadlineSeconds=1000)
    cluster.wait(1000 if end == "out of time" else 10)
    if end == "sent back to its queue":
        cluster.children[cluster.child.name] = replace(cluster.child, state="suspended")
    if end == "stopped":
        cluster.change(suspend=True)
        cluster.settle()
        cluster.wait(SETTINGS.stop_grace)
    (lookup,) = plan(cluster.job(), cluster.snapshot(), SETTINGS, cluster.now).lookups
    assert (lookup.target, lookup.name, lookup.kind) == ("child", "flights-1c9e2f7a-1-train", "Job")
    cluster.ends()
    cluster.settle()
    assert cluster.status.phase == "Complete", "it had ended"


def test_the_last_child_of_a_finished_job_is_asked_for_before_it_is_deleted() -> None:
    """An old list may still show the child as running, and its logs must be kept."""
    cluster = running()
    before = cluster.child
    cluster.ends()
    cluster.settle()
    cluster.children[before.name] = before
    (lookup,) = plan(cluster.job(), cluster.snapshot(), SETTINGS, cluster.now).lookups
    assert (lookup.target, lookup.name) == ("child", before.name)


def test_a_child_that_has_posted_its_end_and_does_not_leave_is_deleted_after_the_grace() -> None:
    cluster = running()
    cluster.posts("mistake", "no such column")
    cluster.settle()
    assert cluster.status.phase == "Running"
    cluster.wait(SETTINGS.stop_grace)
    cluster.settle()
    assert cluster.status.phase == "Failed"
    assert not cluster.children


def test_a_child_of_an_older_attempt_is_deleted() -> None:
    cluster = running()
    cluster.children["late"] = replace(cluster.child, name="late", attempt=7)
    cluster.settle()
    assert list(cluster.children) == ["flights-1c9e2f7a-1-train"]


def test_a_finished_job_never_leaves_its_end() -> None:
    cluster = running()
    cluster.ends(exit_code=2)
    cluster.settle()
    end = cluster.status
    cluster.change(suspend=True, backoffLimit=9)
    cluster.children.clear()
    cluster.settle()
    assert cluster.status == end.model_copy(update={"observed_generation": 2})


def test_what_kuberay_refuses_is_deleted_and_made_anew() -> None:
    """KubeRay never reconciles a RayJob again that failed its validation."""
    cluster = Cluster(spec={**RAY, "backoffLimit": 1})
    cluster.settle()
    for attempt in (1, 2):
        assert list(cluster.children) == [f"flights-1c9e2f7a-{attempt}-train"]
        refused = replace(cluster.child, state="failed", reason="ValidationFailed", message="too long a name")
        cluster.children[refused.name] = refused
        cluster.settle()
        cluster.wait(20)
        cluster.settle()
    assert cluster.condition("Failed") == ("True", "BackoffLimitExceeded")
    assert cluster.status.message == "attempt 2: too long a name"
    assert (cluster.status.attempts or [])[0].reason == "ValidationFailed"
    assert not cluster.children, "its cluster, if it has one, would run for ever"


def test_a_ray_job_that_was_stopped_by_somebody_is_not_complete() -> None:
    cluster = running(backend=RAY["backend"])
    raw = {"kind": "RayJob", "metadata": cluster.manifests[-1]["metadata"]}
    stopped = {"jobDeploymentStatus": "Complete", "jobStatus": "STOPPED"}
    found = read_child({**raw, "status": stopped})
    assert found is not None
    cluster.children[found.name] = found
    cluster.settle()
    assert (cluster.status.attempts or [])[0].outcome == "infrastructure"
    assert (cluster.status.attempts or [])[0].reason == "STOPPED"


def test_kueue_holds_a_child_in_its_queue() -> None:
    cluster = Cluster(spec={**SPEC, "queueName": "gpus"})
    cluster.settle()
    cluster.children[cluster.child.name] = replace(cluster.child, state="suspended")
    cluster.settle()
    child = cluster.child
    assert (cluster.status.phase, cluster.status.message) == ("Queued", f"Job {child.name} waits in its queue")
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


def test_an_invalid_spec_is_not_accepted_and_can_be_mended() -> None:
    cluster = Cluster(spec={**SPEC, "config": None})
    cluster.settle()
    assert (cluster.status.phase, cluster.condition("Accepted")) == ("Invalid", ("False", "Invalid"))
    assert cluster.condition("Stalled") == ("True", "Invalid")
    cluster.change(config=SPEC["config"])
    cluster.settle()
    assert cluster.condition("Accepted") == ("True", "Accepted")
    assert cluster.children


def test_a_change_after_the_start_is_reported_and_changes_nothing() -> None:
    cluster = running()
    cluster.change(config={**SPEC["config"], "renamed": 1})
    cluster.settle()
    assert cluster.condition("Accepted") == ("False", "ChangedAfterStart")
    assert cluster.status.phase == "Running"
    cluster.change(config=SPEC["config"])
    cluster.settle()
    assert cluster.condition("Accepted") == ("True", "Accepted")


def test_a_changed_job_starts_no_further_attempt() -> None:
    cluster = running()
    cluster.change(config={**SPEC["config"], "renamed": 1})
    cluster.ends(exit_code=1)
    cluster.wait(1000)
    cluster.settle()
    assert (cluster.status.attempt, cluster.condition("Stalled")) == (1, ("True", "ChangedAfterStart"))
    cluster.change(config=SPEC["config"])
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
    assert cluster.status.resolved == first.model_copy(update={"image": "mine:2"})


def test_pods_without_devices_keep_the_image_that_the_chart_had_until_the_job_names_one() -> None:
    cluster = Cluster(settings=replace(SETTINGS, cpu_image="trainwright-cpu:0.1.0"))
    cluster.settle()
    cluster.settings = replace(SETTINGS, cpu_image="trainwright-cpu:9.9.9")
    for spec, image in (({}, "trainwright-cpu:0.1.0"), ({"image": "mine:2"}, None)):
        assert resolved_after(cluster, **spec).cpu_image == image


def test_only_ten_attempts_are_kept() -> None:
    cluster = running(backoffLimit=20)
    for _ in range(12):
        cluster.ends(exit_code=1)
        cluster.settle()
        cluster.wait(1000)
        cluster.settle()
    assert [attempt.number for attempt in cluster.status.attempts or []] == list(range(4, 14))


@pytest.mark.parametrize("stage", ["named", "created", "running", "failed", "suspended", "finished"])
def test_a_stable_job_is_left_alone(stage: str) -> None:
    cluster = Cluster(spec={**SPEC, "suspend": stage == "suspended"})
    cluster.settle()
    if stage in ("running", "failed", "finished"):
        cluster.starts()
        cluster.settle()
    if stage in ("failed", "finished"):
        cluster.ends(exit_code={"failed": 1, "finished": 0}[stage])
        cluster.settle()
    cluster.wait(5)
    assert cluster.run() == 0


def test_every_situation_is_known_to_some_job() -> None:
    """Every function of the table is used: each one plans at least one of these states."""
    known: set[str] = set()
    for cluster in _states():
        view = Context(cluster.job(), cluster.snapshot(), cluster.settings, cluster.now)
        known.add(next(situation.__name__ for situation in SITUATIONS if situation(view) is not None))
    assert known == {situation.__name__ for situation in SITUATIONS} - {"being_deleted", "unreadable"}


def _states() -> list[Cluster]:
    fresh, named, invalid = Cluster(), Cluster(), Cluster(spec={**SPEC, "config": None})
    named.run()
    held, ray = Cluster(spec={**SPEC, "suspend": True}), Cluster(spec=RAY, kuberay=False)
    going = running()
    stopping, late, over, gone, queued, stray, dark = (running(activeDeadlineSeconds=10) for _ in range(7))
    stopping.change(suspend=True)
    late.wait(11)
    slow = Cluster()
    slow.settle()
    slow.pods = {"one": pod(slow, phase="Pending", scheduled=slow.now)}
    slow.wait(900)
    over.ends()
    gone.children.clear()
    queued.children[queued.child.name] = replace(queued.child, state="suspended")
    stray.children["late"] = replace(stray.child, name="late")
    dark.pods, dark.nodes = {"one": pod(dark, deletion_time=dark.now)}, ()
    done, failed, paused, lingering = running(), running(), running(), running()
    done.ends()
    done.settle()
    failed.ends(exit_code=1)
    failed.run()
    paused.ends(exit_code=1)
    paused.settle()
    lingering.pods = {"one": pod(lingering)}
    lingering.ends(exit_code=1)
    lingering.settle()
    smaller, larger = started(2, 2), started(2)
    smaller.leaves("gpus-0")
    smaller.pass_time(30)
    smaller.wait(60)
    larger.joins(node("new", 2))
    return [
        *(fresh, named, invalid, held, ray, going, stopping, late, over, gone, queued, stray, dark, slow),
        *(done, failed, paused, lingering, smaller, larger),
    ]


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


def test_gpu_seconds_add_up_over_attempts_and_leave_preprocessing_out() -> None:
    gpus = Node("eight", True, False, {}, (), {"nvidia.com/gpu": 8.0, "cpu": 64.0})
    trainer = {"num_workers": 2, "use_gpu": True}
    backend = {"type": "ray", "cache_dir": "s3://cache", "trainer": trainer}
    cluster = Cluster(spec={**SPEC, "backend": backend}, nodes=(gpus,))
    cluster.settle()
    cluster.starts()
    cluster.settle()
    cluster.wait(500)
    cluster.ends()
    cluster.settle()
    assert cluster.status.preprocessed is not None
    assert cluster.status.gpu_seconds is None
    for _ in range(2):
        cluster.starts()
        cluster.settle()
        cluster.wait(100)
        cluster.ends(exit_code=1)
        cluster.settle()
        cluster.wait(1000)
        cluster.settle()
    assert cluster.status.gpu_seconds == 400


def test_without_gpus_there_are_no_gpu_seconds() -> None:
    cluster = running()
    cluster.wait(100)
    cluster.ends()
    cluster.settle()
    assert (cluster.status.active_seconds, cluster.status.gpu_seconds) == (100, None)
