"""Pods post with real tokens: the API server issues and reviews them, and the reports reach the status."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from testkit.cluster.cluster import Cluster
from testkit.control_plane.posting_job import Job
from testkit.server.running import server

from trainwright_api.resource.environment import AUDIENCE
from trainwright_operator.controller.apply import FIELD_MANAGER

Scenario = Callable[[Job], Awaitable[Any]]


@pytest.fixture
def play(cluster: Cluster, namespace: str) -> Callable[[Scenario], Any]:
    """Run a scenario with a job called late and its server."""

    async def played(scenario: Scenario) -> Any:
        async with server(cluster, namespace, interval=3600) as running:
            return await scenario(await Job(running, namespace, "late").begin())

    return lambda scenario: asyncio.run(played(scenario))


def test_progress_of_a_pod_stands_in_the_status_of_its_job(play: Callable[[Scenario], Any], cluster: Cluster) -> None:
    async def scenario(late: Job) -> Any:
        answer = await late.post(await late.token())
        get = ("get", "tj", "late", f"-n={late.namespace}", "--no-headers")
        return answer, await late.stored(), await asyncio.to_thread(cluster.kubectl, *get)

    answer, stored, row = play(scenario)
    assert answer == (200, {"stop": False, "reason": ""})
    assert stored["status"]["progress"]["summary"] == "41% 3m left"
    assert stored["status"]["resolved"] == {"batchSize": 128, "globalBatchSize": 512, "learningRateFactor": 1}
    owners = {entry["manager"] for entry in stored["metadata"]["managedFields"] if entry.get("subresource") == "status"}
    assert owners == {FIELD_MANAGER, "trainwright-progress"}
    assert "41% 3m left" in row
    assert "roc_auc=0.742" in row


def test_the_reconciler_and_the_pods_write_beside_each_other(play: Callable[[Scenario], Any]) -> None:
    async def scenario(late: Job) -> Any:
        token = await late.token()
        await late.post(token)
        await late.owns_status({"attempt": 1, "phase": "Running", "resolved": {"workers": 4}})
        outcome = {"attempt": 1, "class": "done", "logTail": "password=hunter2", "testScores": {"roc_auc": 0.7}}
        await late.post(token, outcome=outcome)
        await late.owns_status({"attempt": 1, "phase": "Complete"})
        return await late.status()

    status = play(scenario)
    assert (status["phase"], status["outcome"]["outcome"]) == ("Complete", "done")
    assert status["outcome"]["logTail"] == "password=(hidden)"
    assert status["progress"]["fraction"] == 0.41
    assert status["resolved"] == {"batchSize": 128, "globalBatchSize": 512, "learningRateFactor": 1}


def test_an_outcome_is_written_while_the_reconciler_writes_all_the_time(play: Callable[[Scenario], Any]) -> None:
    async def scenario(late: Job) -> Any:
        token = await late.token()
        outcome = {"attempt": 1, "class": "mistake", "line": "so it is 😀"}

        async def reconcile() -> None:
            for generation in range(20):
                await late.owns_status({"attempt": 1, "observedGeneration": generation})

        answers = await asyncio.gather(reconcile(), *(late.post(token, outcome=outcome) for _ in range(5)))
        return answers[1:], await late.status()

    answers, status = play(scenario)
    assert {code for code, _ in answers} == {200}
    assert status["outcome"]["message"] == "so it is 😀"
    assert status["observedGeneration"] == 19


def test_either_of_two_servers_takes_a_report_and_one_interval_counts(
    play: Callable[[Scenario], Any], cluster: Cluster
) -> None:
    async def scenario(late: Job) -> Any:
        token = await late.token()
        async with server(cluster, late.namespace, leading=False, interval=3600) as other:
            first = await late.post(token)
            second = await late.post(token, via=other, progress={"fraction": 0.9})
        return first, second, await late.status()

    first, second, status = play(scenario)
    assert first == second == (200, {"stop": False, "reason": ""})
    assert status["progress"]["fraction"] == 0.41


def test_a_suspended_job_asks_its_pod_to_stop(play: Callable[[Scenario], Any], cluster: Cluster) -> None:
    async def scenario(late: Job) -> Any:
        patch = ("patch", "tj", "late", f"-n={late.namespace}", "--type=merge", '-p={"spec": {"suspend": true}}')
        await asyncio.to_thread(cluster.kubectl, *patch)
        return await late.post(await late.token())

    assert play(scenario) == (200, {"stop": True, "reason": "the job is suspended"})


def test_a_token_opens_its_own_job_alone(play: Callable[[Scenario], Any]) -> None:
    async def scenario(late: Job) -> Any:
        other = await Job(late._server, late.namespace, "other").begin()
        refused = await late.post(await other.token())
        return refused, await other.post(await late.token()), await late.status(), await other.status()

    first, second, *statuses = play(scenario)
    assert first == (403, {"message": "the pod other-pod does not belong to this job"})
    assert second == (403, {"message": "the pod late-pod does not belong to this job"})
    assert not any("progress" in status for status in statuses)


def test_tokens_that_were_not_made_for_this_are_refused(play: Callable[[Scenario], Any], cluster: Cluster) -> None:
    async def scenario(late: Job) -> Any:
        good = await late.token()
        header, _, rest = good.partition(".")
        tokens = {
            "of another audience": await late.token("https://kubernetes.default.svc"),
            "of no pod": await asyncio.to_thread(cluster.token, late.namespace, "default", AUDIENCE),
            "changed": f"{header}.{rest[:-4]}AAAA",
            "garbage": "garbage",
        }
        answers = {name: (await late.post(token))[0] for name, token in tokens.items()}
        assert (await late.post(good))[0] == 200
        return answers

    assert set(play(scenario).values()) == {401}


@pytest.mark.slow  # the API server needs up to a minute to notice
def test_a_token_ends_with_its_pod(play: Callable[[Scenario], Any]) -> None:
    async def scenario(late: Job) -> Any:
        used, unused = await late.token(), await late.token()
        await late.post(used)
        await late.pod_deleted()
        # What is known about a pod that has posted is kept for some seconds.
        return await _until_refused(lambda: late.post(used)), await _until_refused(lambda: late.post(unused))

    assert set(play(scenario)) <= {401, 403}


async def _until_refused(post: Callable[[], Awaitable[tuple[int, Any]]]) -> int:
    """The API server needs some seconds to notice that the pod of a token is gone."""
    while (await post())[0] == 200:
        await asyncio.sleep(0.05)
    return (await post())[0]


def test_an_expired_token_is_refused(play: Callable[[Scenario], Any], cluster: Cluster) -> None:
    """The API server issues no token for less than ten minutes, so the test signs one with its key."""
    if not cluster.is_ours:
        pytest.fail("this test signs a token: it needs a control plane of its own, so unset KUBECONFIG", pytrace=False)
    key = cluster.folder / "certificates" / "service-accounts.key"

    async def scenario(late: Job) -> Any:
        good = await late.token()
        lasting, over = _signed(good, key, time.time() + 600), _signed(good, key, time.time() - 60)
        return (await late.post(lasting))[0], (await late.post(over))[0]

    assert play(scenario) == (200, 401)


def _signed(token: str, key: Path, expires: float) -> str:
    """The same token with another expiry."""
    head, claims, _ = token.split(".")
    changed = {
        **json.loads(_decoded(claims)),
        "iat": int(expires) - 600,
        "nbf": int(expires) - 600,
        "exp": int(expires),
    }
    message = f"{head}.{_encoded(json.dumps(changed).encode())}"
    private = serialization.load_pem_private_key(key.read_bytes(), None)
    assert isinstance(private, ec.EllipticCurvePrivateKey)
    r, s = decode_dss_signature(private.sign(message.encode(), ec.ECDSA(hashes.SHA256())))
    return f"{message}.{_encoded(r.to_bytes(32) + s.to_bytes(32))}"


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
