"""The endpoint for pods: authorisation, the written status, and every refusal."""

from __future__ import annotations

import asyncio
import io
import json

import pytest

from trainwright_operator.kube.errors import ApiError, Unreachable
from trainwright_operator.server import progress
from trainwright_operator.server.pod_identity import PodIdentity, Reviews

from ..owned import owned_by

JOB = "/apis/trainwright.dev/v1alpha1/namespaces/ml/trainingjobs/late"
POD = "/api/v1/namespaces/ml/pods/late-1-abc"
CHILD = "/apis/batch/v1/namespaces/ml/jobs/late-1"
URL = "/v1/namespaces/ml/jobs/late"
REPORT = {"uid": "u1", "attempt": 1, "progress": {"fraction": 0.5}}
OUTCOME = {"uid": "u1", "attempt": 1, "outcome": {"attempt": 1, "class": "done", "model": "s3://bucket/model"}}


@pytest.fixture(autouse=True)
def cluster(api):
    extra = {
        "authentication.kubernetes.io/pod-name": ["late-1-abc"],
        "authentication.kubernetes.io/pod-uid": ["p1"],
    }
    user = {"username": "system:serviceaccount:ml:default", "extra": extra}
    api.tokens["good"] = {"authenticated": True, "audiences": ["trainwright"], "user": user}
    owners = owned_by("Job", "late-1", "c1")
    labels = {"trainwright.dev/job-uid": "u1"}
    pod = {"name": "late-1-abc", "namespace": "ml", "uid": "p1", "labels": labels, "ownerReferences": owners}
    api.put(POD, {"metadata": pod})
    child = {"name": "late-1", "uid": "c1", "ownerReferences": owned_by("TrainingJob", "late", "u1")}
    api.put(CHILD, {"metadata": child})
    metadata = {"name": "late", "namespace": "ml", "uid": "u1"}
    api.put(JOB, {"metadata": metadata, "spec": {}, "status": {"attempt": 1, "attempts": [{"number": 1}]}})


def post(report=REPORT, url=URL, token="good", body=None):
    async def conversation(session):
        headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
        data = io.BytesIO(json.dumps(report).encode() if body is None else body)
        async with session.post(url, data=data, headers=headers) as response:
            return response.status, await response.json()

    return conversation


def message(answer):
    assert list(answer[1]) == ["message"]
    assert "\n" not in answer[1]["message"]
    return answer[0], answer[1]["message"]


def status(api):
    return api.objects[JOB]["status"]


def test_a_report_is_written_and_answered(talk, api, place):
    assert talk(post()) == (200, {"stop": False, "reason": ""})
    assert status(api)["progress"]["fraction"] == 0.5
    method, path, body = api.requests[-1]
    assert (method, path) == ("PATCH", f"{JOB}/status")
    assert body["metadata"]["uid"] == "u1"
    assert place.metrics.registry.get_sample_value("trainwright_reports_total", {"status": "200"}) == 1


def test_the_reply_carries_a_stop(talk, api):
    api.objects[JOB]["spec"]["suspend"] = True
    assert talk(post()) == (200, {"stop": True, "reason": "the job is suspended"})


def test_progress_is_written_once_in_an_interval_by_whichever_pod_is_asked(talk, api, another):
    async def conversation(session):
        await post()(session)
        async with another().client() as other:
            await post()(other)

    talk(conversation)
    assert api.methods().count("PATCH") == 1


def test_an_outcome_waits_for_no_interval(talk, api):
    async def conversation(session):
        await post()(session)
        return await post(OUTCOME)(session)

    assert talk(conversation)[0] == 200
    assert status(api)["outcome"]["model"] == "s3://bucket/model"
    assert status(api)["progress"]["fraction"] == 0.5


def somebody_writes_first(api, times):
    left = [times]

    def before(method, _path):
        if method == "PATCH" and left[0]:
            left[0] -= 1
            api.put(JOB, api.objects[JOB])

    api.before = before


def test_an_outcome_is_written_though_others_write_at_the_same_time(talk, api, place):
    somebody_writes_first(api, 3)
    assert talk(post(OUTCOME))[0] == 200
    assert status(api)["outcome"]["outcome"] == "done"
    assert len(place.naps) == 3


def test_an_outcome_that_cannot_be_written_is_to_be_posted_again(talk, api):
    somebody_writes_first(api, 99)
    code, line = message(talk(post(OUTCOME)))
    assert (code, line) == (409, "the job's status changes all the time: try again later")


def test_progress_that_cannot_be_written_is_answered_all_the_same(talk, api):
    somebody_writes_first(api, 99)
    assert talk(post()) == (200, {"stop": False, "reason": ""})
    assert "progress" not in status(api)
    assert api.methods().count("PATCH") == 1


def test_between_reading_and_writing_an_attempt_may_be_superseded(talk, api):
    def before(method, _path):
        if method == "PATCH":
            api.before = lambda *_: None
            api.put(JOB, {**api.objects[JOB], "status": {"attempt": 2}})

    api.before = before
    code, reply = talk(post(OUTCOME))
    assert (code, reply["reason"]) == (200, "attempt 1 has been superseded by attempt 2")
    assert "outcome" not in status(api)


@pytest.mark.parametrize("token", [None, "", "unknown", "x" * 7000])
def test_without_a_good_token_nothing_is_reported(talk, token):
    code, line = message(talk(post(token=token)))
    assert (code, line) == (401, "expected the token of a pod, made for the audience trainwright")


def test_a_pod_posts_in_its_own_namespace_only(talk):
    assert message(talk(post(url="/v1/namespaces/other/jobs/late"))) == (403, "the pod is of namespace ml, not other")


def test_a_pod_posts_about_its_own_job_only(talk, api):
    api.put(JOB.replace("late", "other"), {"metadata": {"name": "other", "namespace": "ml", "uid": "u2"}})
    answer = message(talk(post({**REPORT, "uid": "u2"}, url=URL.replace("late", "other"))))
    assert answer == (403, "the pod late-1-abc does not belong to this job")


@pytest.mark.parametrize("owners", [[], owned_by("Job", "mine", "m1"), owned_by("Job", "gone", "g1")])
def test_a_pod_with_the_labels_of_a_job_and_other_owners_is_none_of_it(talk, api, owners):
    api.put(CHILD.replace("late-1", "mine"), {"metadata": {"name": "mine", "uid": "m1"}})
    api.objects[POD]["metadata"]["ownerReferences"] = owners
    assert message(talk(post())) == (403, "the pod late-1-abc belongs to no TrainingJob")


@pytest.mark.parametrize("change", ["uid", "gone", "labels"])
def test_a_pod_that_is_not_the_one_of_the_token_is_refused(talk, api, change):
    if change == "gone":
        del api.objects[POD]
    else:
        api.objects[POD]["metadata"][change] = {"uid": "p2", "labels": None}[change]
    assert message(talk(post()))[0] == 403


def test_a_job_that_is_not_there_is_reported(talk, api):
    del api.objects[JOB]
    assert message(talk(post())) == (404, "there is no TrainingJob ml/late")


def test_a_job_that_was_made_anew_is_another(talk):
    code, line = message(talk(post({**REPORT, "uid": "u0"})))
    assert (code, line) == (409, "uid: the report is about u0, the job has the uid u1")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff", b'{"uid": "u1"}'])
def test_garbage_is_reported_so(talk, body):
    code, line = message(talk(post(body=body)))
    assert code == 400
    assert line.startswith("no report: ")


def test_a_report_has_a_size(talk):
    assert message(talk(post(body=b"x" * (256 * 1024 + 1)))) == (413, "a report has at most 256 KiB")


@pytest.mark.parametrize(
    "error", [ApiError(500, "InternalError", "oh"), ApiError(429, "TooManyRequests", "oh"), Unreachable("no")]
)
def test_an_api_server_in_trouble_is_no_fault_of_the_pod(talk, api, error):
    async def conversation(session):
        api.failures = [error]
        return await post()(session)

    assert message(talk(conversation)) == (503, "the API server does not answer as it should: try again later")


@pytest.mark.parametrize(
    ("method", "path", "code"), [("GET", URL, 405), ("PUT", "/admission", 405), ("GET", "/nothing", 404)]
)
def test_other_paths_and_methods_are_reported_in_json(talk, method, path, code):
    async def conversation(session):
        async with session.request(method, path) as response:
            return response.status, await response.json(), response.headers.get("Allow")

    answered, body, allow = talk(conversation)
    assert answered == code
    assert list(body) == ["message"]
    assert (allow == "POST") is (code == 405)


def test_many_posts_at_once_write_once(talk, api):
    async def conversation(session):
        return await asyncio.gather(*(post()(session) for _ in range(20)))

    assert {code for code, _ in talk(conversation)} == {200}
    assert status(api)["progress"]["fraction"] == 0.5


def test_a_pod_is_read_once_in_a_minute(talk, api):
    async def conversation(session):
        for _ in range(3):
            assert (await post()(session))[0] == 200

    talk(conversation)
    asked = [path for method, path, _ in api.requests if method == "GET" and path == POD]
    assert len(asked) == 1


def test_too_many_posts_at_once_are_asked_to_come_again(talk, monkeypatch):
    monkeypatch.setattr(progress, "MAX_POSTS", 2)
    held, free = [], asyncio.Event()

    async def slow(_, token):
        held.append(token)
        await free.wait()
        return PodIdentity("ml", "late-1-abc", "p1")

    async def conversation(session):
        posts = [asyncio.create_task(post()(session)) for _ in range(2)]
        while len(held) < 2:
            await asyncio.sleep(0.01)
        async with session.post(URL, data=b"{}", headers={"Authorization": "Bearer good"}) as refused:
            assert (refused.status, await refused.json()) == (503, {"message": "too many pods post at this moment"})
            assert 5 <= int(refused.headers["Retry-After"]) <= 15
        free.set()
        assert {code for code, _ in await asyncio.gather(*posts)} == {200}
        assert (await post()(session))[0] == 200

    monkeypatch.setattr(Reviews, "identity", slow)
    talk(conversation)
