"""The webhook: the messages of `validate`, the allowed updates, and malformed requests."""

from __future__ import annotations

import copy
import io
import json
from dataclasses import replace
from typing import Any

import pytest

from trainwright_api.checks.cluster import validate_job
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_operator.policies.forbidden import refusal
from trainwright_operator.policy import Policy
from trainwright_operator.server import admission
from trainwright_operator.server.admission import Busy
from trainwright_operator.settings import Settings

SETTINGS = Settings(policy=Policy(inline_keys=True))

JOB: dict[str, Any] = {
    "apiVersion": "trainwright.dev/v1alpha1",
    "kind": "TrainingJob",
    "metadata": {"name": "late", "namespace": "ml"},
    "spec": {
        "dataset": "s3://bucket/flights.parquet",
        "output": "s3://bucket/runs",
        "config": {
            "input_features": [{"name": "size", "type": "number"}],
            "output_features": [{"name": "late", "type": "binary"}],
        },
        "backend": {"type": "local", "cache_credentials": {"key": "x"}},
    },
}


def respond(asked, settings=SETTINGS):
    return admission.respond(asked, settings)


def changed(job=JOB, **spec):
    made = copy.deepcopy(job)
    made["spec"].update(spec)
    return made


def started(job=JOB):
    made = copy.deepcopy(job)
    made["status"] = {"startTime": "2026-05-01T12:00:00Z", "resolved": {"digest": validate_job(job).digest}}
    return made


def question(new, old=None, **more):
    return {
        "uid": "q1",
        "kind": {"group": "trainwright.dev", "version": "v1alpha1", "kind": "TrainingJob"},
        "operation": "CREATE" if old is None else "UPDATE",
        "name": "late",
        "object": new,
        "oldObject": old,
        **more,
    }


def message_of(new, old=None, **more):
    """Return the message of a refusal, or None."""
    answer = respond(question(new, old, **more))
    assert answer["uid"] == "q1"
    return None if answer["allowed"] else answer["status"]["message"]


def test_a_good_job_is_allowed_and_its_warnings_are_reported():
    answer = respond(question(JOB))
    assert answer["allowed"]
    assert answer["warnings"] == list(validate_job(JOB).warnings)
    assert "warnings" not in respond(question(changed(backend={})))


def test_an_old_config_is_allowed_with_a_warning_for_each_old_form():
    config = {**JOB["spec"]["config"], "training": {"epochs": 3}}
    config["input_features"] = [{"name": "size", "type": "numerical"}]
    answer = respond(question(changed(backend={}, config=config)))
    assert answer["allowed"]
    assert answer["warnings"] == [
        "config.training is read as config.trainer",
        "config.input_features[0].type: numerical is read as number",
    ]


def test_a_started_job_may_be_rewritten_without_its_old_forms():
    config = JOB["spec"]["config"]
    old, new = (changed(config={**config, key: {"epochs": 3}}) for key in ("training", "trainer"))
    assert respond(question(new, started(old)))["allowed"]


def test_a_mistake_is_refused_in_the_words_of_validate():
    wrong = changed(backend={"type": "rya"})
    assert message_of(wrong) == validate_job(wrong).message
    assert message_of(wrong).startswith("late: backend.type: expected local, ray, deepspeed or horovod")


def test_a_job_without_a_name_yet_is_judged():
    nameless = {**changed(dataset=5), "metadata": {"generateName": "late-"}}
    assert message_of(nameless, name="").startswith("late-: dataset:")


def test_an_update_of_what_waits_is_judged_like_a_new_job():
    assert message_of(changed(dataset="s3://bucket/x"), JOB) is None
    assert message_of(changed(dataset="x"), JOB).startswith("late: dataset: pods do not see 'x'")


def test_a_stored_job_that_is_not_valid_may_be_edited_beside_its_spec():
    old = changed(dataset="x")
    new = copy.deepcopy(old)
    new["metadata"]["finalizers"] = ["a.b/c"]
    new["metadata"]["labels"] = {"a": "b"}
    assert message_of(new, old) is None


def test_a_job_that_is_being_deleted_is_left_alone():
    new = changed(dataset="x")
    new["metadata"]["deletionTimestamp"] = "2026-05-01T12:00:00Z"
    assert message_of(new, JOB) is None


@pytest.mark.parametrize("more", [{"subResource": "status"}, {"operation": "DELETE"}, {"kind": {"kind": "Pod"}}])
def test_what_is_no_change_of_a_spec_is_allowed(more):
    assert message_of(changed(dataset="x"), JOB, **more) is None


def test_a_key_that_no_schema_knows_is_fixed_once_the_job_has_started():
    new = changed(started(), backend={"type": "local", "cache_credentials": {"other": "x"}})
    assert message_of(new, started()) == (
        "backend is fixed once the job has started: delete the job and create it anew, or create another one"
    )
    assert message_of(new, JOB) is None


def test_what_is_not_fixed_may_change_after_the_start():
    assert message_of(changed(started(), suspend=True, backoffLimit=9), started()) is None


def test_a_change_that_acts_later_is_allowed_with_a_warning():
    running = started()
    running["status"]["attempts"] = [{"number": 1}]
    answer = respond(question(changed(running, image="mine:2"), running))
    assert answer["allowed"]
    assert answer["warnings"][0].startswith("image: acts from the next attempt on; attempt 1 goes on without")


def test_a_job_that_would_never_be_deleted_is_allowed_with_a_warning():
    job = changed(ttlPolicy="DeleteJob")
    line = "ttlPolicy: does not act without ttlSecondsAfterFinished: the job is not deleted after its end"
    assert line in respond(question(job))["warnings"]
    assert line not in respond(question(changed(job, ttlSecondsAfterFinished=60)))["warnings"]
    by_default = replace(SETTINGS, jobs=replace(SETTINGS.jobs, ttl_seconds_after_finished=60))
    assert line not in respond(question(job), by_default)["warnings"]


def test_another_spelling_of_the_same_may_be_written_after_the_start():
    old = started(changed(backend={"type": "ray", "engine": {"type": "dask"}}))
    assert message_of(changed(old, backend={"type": "ray", "processor": {"type": "dask"}}), old) is None


def test_a_change_that_slipped_in_may_be_taken_back_and_bars_no_other():
    slipped = changed(started(), backend={"type": "local", "cache_credentials": {"key": "y"}})
    assert message_of(started(), slipped) is None
    assert message_of(changed(slipped, suspend=True), slipped) is None
    assert message_of(changed(slipped, dataset="s3://bucket/z"), slipped).startswith("dataset is fixed")


def test_a_started_job_that_is_not_valid_any_more_can_be_suspended_and_mended_only_to_what_was_started():
    broken = changed(started(), dataset="x")
    answer = respond(question(changed(broken, suspend=True), broken))
    assert answer["allowed"]
    assert answer["warnings"][0].startswith("late: dataset: pods do not see 'x'")
    assert message_of(started(), broken) is None
    assert message_of(changed(broken, dataset="s3://bucket/z"), broken).startswith("what was started is fixed")


def test_a_long_warning_is_cut_where_the_api_server_would():
    broken = changed(started(), dataset="x" * 400)
    assert len(respond(question(changed(broken, suspend=True), broken))["warnings"][0]) == 250


def test_what_is_nested_too_deeply_is_refused():
    deep = {}
    for _ in range(900):
        deep = {"x": deep}
    assert message_of(changed(config=deep)) == "late: nested more than 64 levels deep"


@pytest.mark.parametrize("spec", [None, 3, [], {}, {"config": [1]}, {"backend": "ray"}, {"podTemplate": {"env": 3}}])
def test_whatever_stands_in_the_place_of_a_spec_is_answered(spec):
    assert message_of({**JOB, "spec": spec})
    assert message_of({**JOB, "spec": spec}, started())


def post(body):
    async def conversation(session):
        data = io.BytesIO(body.encode() if isinstance(body, str) else body)
        async with session.post("/admission", data=data, headers={"Content-Type": "application/json"}) as response:
            return response.status, await response.json()

    return conversation


def test_a_review_is_answered_by_a_review(talk, place):
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": question(changed(dataset=1))}
    status, answer = talk(post(json.dumps(review)))
    assert (status, answer["apiVersion"], answer["kind"]) == (200, "admission.k8s.io/v1", "AdmissionReview")
    assert answer["response"]["status"]["message"].startswith("late: dataset: expected a text")
    assert place.metrics.registry.get_sample_value("trainwright_admissions_total", {"answer": "denied"}) == 1


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (b"", "no AdmissionReview: Expecting value"),
        (b"\xff\xfe", "no AdmissionReview:"),
        (b"[" * 100_000, "no AdmissionReview: Expecting"),
        (b"[]", "no AdmissionReview: request.uid is missing"),
        (b'{"request": 3}', "no AdmissionReview: request.uid is missing"),
        (b'{"request": {"uid": 3}}', "no AdmissionReview: request.uid is missing"),
        (b'{"apiVersion": "admission.k8s.io/v1beta1", "request": {"uid": "a"}}', "no AdmissionReview: expected apiV"),
    ],
)
def test_garbage_is_reported_so(talk, body, line):
    status, answer = talk(post(body))
    assert status == 400
    assert answer["message"].startswith(line)


def test_an_update_of_a_job_as_large_as_etcd_stores_is_judged_and_none_that_is_larger(talk):
    def update(letters):
        large = changed(backend={"cache_credentials": {"key": "x" * letters}})
        review = {"apiVersion": "admission.k8s.io/v1", "request": question(changed(large, seed=1), large)}
        return talk(post(json.dumps(review)))

    status, answer = update(1_500_000)
    assert (status, answer["response"]["allowed"]) == (200, True)
    assert update(1_600_000)[0] == 413


def test_a_review_that_is_not_validated_is_to_be_sent_again(talk, place):
    async def busy(_):
        raise Busy("too many jobs are being validated: try again")

    place._answer = busy
    assert talk(post("{}")) == (503, {"message": "too many jobs are being validated: try again"})
    assert place.metrics.registry.get_sample_value("trainwright_admissions_total", {"answer": "busy"}) == 1


UNBUILT = {**JOB["spec"]["config"], "preprocessing": {"global_max_sequence_length": 9}}
LINE = "config.preprocessing.global_max_sequence_length: not built yet: 9"


def test_what_is_not_built_is_refused_in_the_words_of_train():
    assert message_of(changed(config=UNBUILT)) == f"late: {LINE}"
    assert message_of(changed(config=UNBUILT), JOB) == f"late: {LINE}"


def test_mistakes_and_what_is_not_built_are_reported_together():
    assert message_of(changed(config=UNBUILT, seed=-1)).splitlines()[0] == "late: 2 mistakes"


def test_a_job_with_its_own_image_is_warned_of_what_is_not_built():
    answer = respond(question(changed(config=UNBUILT, image="mine:2", backend={})))
    assert answer["allowed"]
    assert answer["warnings"] == [f"{LINE}; image mine:2 must have it"]


def test_what_another_version_has_started_may_still_be_suspended():
    old = started(changed(config=UNBUILT, image="mine:2"))
    del old["spec"]["image"]
    answer = respond(question(changed(old, suspend=True), old))
    assert answer["allowed"]
    assert f"{LINE}; it was started by another version" in answer["warnings"]


def test_a_status_in_a_new_object_proves_no_start():
    assert message_of(started(changed(config=UNBUILT))) == f"late: {LINE}"


def forbidden(job, name="late"):
    found = TrainingJobSpec.model_validate(job["spec"])
    return refusal(found, Policy(), Settings().images, name)


def test_what_the_policy_forbids_is_refused_in_the_words_of_the_reconciler():
    answer = respond(question(JOB), Settings())
    assert answer["status"]["message"] == forbidden(JOB)
    assert "policy.inlineKeys" in forbidden(JOB)
    assert respond(question(changed(backend={})), Settings())["allowed"]


def test_a_started_job_can_be_suspended_under_a_stricter_policy():
    suspended = changed(started(), suspend=True)
    answer = respond(question(suspended, started()), Settings())
    assert answer["allowed"]
    assert answer["warnings"][0] == forbidden(JOB)[:250]
    worse = changed(suspended, podTemplate={"serviceAccountName": "admin"})
    assert not respond(question(worse, started()), Settings())["allowed"]


def test_a_job_that_waits_cannot_keep_what_the_policy_forbids():
    assert not respond(question(changed(suspend=True), JOB), Settings())["allowed"]
