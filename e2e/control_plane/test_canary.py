"""A user's secret is only in the user's own objects and in the one Secret of the job, at all times.

Checked: every version of every object as etcd stores it, Events included; the operator's log; /metrics; and all
messages of the webhook. Pods print the secret in this test, and the kubelet and KubeRay then write it into the status
of pods and RayJobs: of those kinds only the created version is checked, because the operator writes nothing else.
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest
from testkit.api import Api, ApiError, Manifest, condition, until, until_object
from testkit.api.resource import SECRETS, TRAINING_JOBS
from testkit.cluster import stored
from testkit.cluster.cluster import Cluster
from testkit.cluster.stored import Version
from testkit.control_plane.installed import NAMESPACE, Installed, apply, installed, play_lifecycle, webhook
from testkit.harness import Kind, Lifecycle, training_job
from testkit.harness.canary import canary, holds, of_others
from testkit.harness.lifecycle import NAME
from testkit.harness.lifecycles import completes, fails
from testkit.simulators import Fail, Succeed

from trainwright_operator.model import names

CANARY = canary()
PRINTED = f'reading\n{{"aws_secret_access_key": "{CANARY}"}}\npassword={CANARY}\nhttps://me:{CANARY}@host/x failed'
FAILURES = (
    Fail(reported_by="posted", message=f"login failed: token={CANARY}", log=PRINTED),
    Fail(reported_by="termination message", message=f"password: {CANARY}", log=PRINTED),
    Fail(reported_by="exit code", log=PRINTED),
)
KEYS = {"token": CANARY, "deeper": [{"still": CANARY}]}
SPECS: Mapping[Kind, Mapping[str, Any]] = {
    "ray": {"backend": {"type": "ray", "trainer": {"num_workers": 2}, "cache_credentials": KEYS}},
    "gang": {
        "backend": {
            "type": "horovod",
            "trainer": {"num_workers": 2},
            "credentials": {"default": KEYS, "datasets": KEYS, "artifacts": KEYS, "cache": KEYS},
        }
    },
    "local": {"credentials": {"secretName": "keys"}},
}
KINDS: tuple[Kind, ...] = ("ray", "gang", "local")
GONE = {"ttlSecondsAfterFinished": 0}
REFUSED: Sequence[Mapping[str, Any]] = (
    {"backend": {"type": "ray", "cache_credentials": CANARY}},
    {"backend": {"type": "ray", "credentials": {"artifacts": f"/{CANARY}"}}},
    {"backend": {"type": "ray", "cache_credentials": [CANARY]}},
    {"backend": {"type": "ray", "credentials": {"dataset": KEYS}}},
    {"backend": {"type": "ray", "cache_credential": KEYS}},
    {"backend": {"type": "ray", "cache_credentials": KEYS, "trainer": {"num_worker": 2}}},
    {"backend": {"type": "local", "cache_credentials": KEYS, "credentials": {"cache": KEYS}}},
)


@dataclass(frozen=True)
class SeenText:
    versions: Sequence[Version]
    jobs: Sequence[Manifest]
    namespaces: Sequence[str]
    """The namespaces of the jobs that ran, each with a Secret of its user."""
    output: str
    """The operator's output: its log and /metrics."""
    refusals: Sequence[str]


@pytest.fixture(scope="module")
def seen(exclusive_cluster_of_module: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeenText]:
    cluster = exclusive_cluster_of_module
    with installed(cluster, tmp_path_factory.mktemp("operator"), "clusterwide.yaml") as one:
        yield asyncio.run(_seen(one))


def test_it_stands_in_the_objects_where_it_belongs_and_in_no_other(seen: SeenText) -> None:
    """The test also finds the three expected places, so it would find the secret elsewhere."""
    job_secrets = {
        f"/registry/secrets/{job['metadata']['namespace']}/{names.common_name(NAME, job['metadata']['uid'])}"
        for job in seen.jobs
        if "credentials" not in job["spec"] and job["status"].get("startTime")
    }
    users = {f"/registry/secrets/{namespace}/keys" for namespace in seen.namespaces}
    found = {version.key for version in seen.versions if _is_told(version) and holds(version.value, CANARY)}
    jobs = {key for key in found if key.startswith("/registry/trainwright.dev/trainingjobs/")}
    assert found - jobs == job_secrets | users
    assert (len(job_secrets), len(users)) == (4, 6)
    assert len(jobs) == 4 + len(REFUSED)


def test_what_pods_printed_was_there_to_be_reported(seen: SeenText) -> None:
    """Otherwise the tests here would pass for any operator."""
    printed = [version.key for version in seen.versions if not _is_told(version) and holds(version.value, CANARY)]
    assert any(key.startswith("/registry/pods/") for key in printed)
    assert any(key.startswith("/registry/ray.io/rayjobs/") for key in printed)
    ended = [job["status"] for job in seen.jobs if job["status"].get("startTime")]
    assert [status["attempts"][0]["message"] for status in ended] == ["login failed: token=(hidden)"] * len(ended)
    assert all("password=(hidden)" in status["logTail"] for status in ended if status["phase"] == "Failed")


def test_of_a_job_only_what_the_user_wrote_holds_it(seen: SeenText) -> None:
    copies = 0
    for version in seen.versions:
        if version.key.startswith("/registry/trainwright.dev/trainingjobs/"):
            job = json.loads(version.value)
            copies += CANARY in json.dumps(job["metadata"].get("annotations", {}))
            assert not holds(of_others(version.value), CANARY), job
    assert copies


def test_the_operator_does_not_say_it(seen: SeenText) -> None:
    assert "trainwright_retries" in seen.output
    assert "all is listed" in seen.output
    assert CANARY not in seen.output


def test_a_refusal_does_not_repeat_it(seen: SeenText) -> None:
    assert len(seen.refusals) == len(REFUSED)
    assert all("denied the request: bad" in message for message in seen.refusals)
    assert CANARY not in "".join(seen.refusals)


def _is_told(version: Version) -> bool:
    """True if the operator or a test wrote it. Later versions of a pod or RayJob come from the kubelet or KubeRay."""
    theirs = ("/registry/pods/", "/registry/ray.io/rayjobs/")
    return version.number == 1 or not version.key.startswith(theirs)


async def _seen(one: Installed) -> SeenText:
    cluster = one.cluster
    since = await stored.revision(cluster.folder)
    async with one.simulators() as (api, simulators):
        not_accepted = [await _not_accepted(cluster, api, number, spec) for number, spec in enumerate(REFUSED)]
        async with asyncio.TaskGroup() as group:
            namespaces = []
            for kind in KINDS:
                for lifecycle in _run_all(kind):
                    namespaces.append(await _with_keys(api))
                    group.create_task(play_lifecycle(api, simulators, namespaces[-1], lifecycle, kind))
        apply(cluster, webhook(one.port))
        refusals = [await _refusal(api, number, spec) for number, spec in enumerate(REFUSED)]
        jobs = [await api.get(TRAINING_JOBS, NAME, namespace) for namespace in namespaces]
        metrics = await _metrics(api, one.port)
    written = await stored.versions(cluster.folder, since)
    return SeenText(written, [*jobs, *not_accepted], namespaces, one.process.log.read_text() + metrics, refusals)


def _run_all(kind: Kind) -> tuple[Lifecycle, Lifecycle]:
    """One that succeeds after all kinds of failures, and one that fails."""
    spec = SPECS[kind]
    return (
        Lifecycle("canary", [*FAILURES, Succeed()], completes, spec),
        Lifecycle("canary that fails", FAILURES, fails, {**spec, **GONE, "backoffLimit": 2}),
    )


async def _with_keys(api: Api) -> str:
    namespace = await api.make_namespace("lifecycle")
    await api.create(SECRETS, {"metadata": {"name": "keys"}, "stringData": {"TOKEN": CANARY}}, namespace)
    return namespace


async def _not_accepted(cluster: Cluster, api: Api, number: int, spec: Mapping[str, Any]) -> Manifest:
    """Without a webhook the mistake appears in the status and in an Event."""
    whole = training_job(f"bad-{number}", "local", **spec)
    apply(cluster, {"apiVersion": TRAINING_JOBS.api_version, "kind": TRAINING_JOBS.kind, **whole})
    return await until_object(
        api, TRAINING_JOBS, f"bad-{number}", "default", lambda job: condition(job, "Accepted") == "False", seconds=60
    )


async def _refusal(api: Api, number: int, spec: Mapping[str, Any]) -> str:
    whole = training_job(f"bad-again-{number}", "local", **spec)
    named = {"apiVersion": TRAINING_JOBS.api_version, "kind": TRAINING_JOBS.kind, **whole}

    async def message() -> str:
        try:
            await api.request("POST", TRAINING_JOBS.path("default"), named, dryRun="All")
        except ApiError as error:
            return str(error)
        return ""

    return await until(message, lambda found: "denied the request" in found, seconds=60, what="a refusal")


async def _metrics(api: Api, port: int) -> str:
    bundle = (await api.get(SECRETS, "trainwright-tls", NAMESPACE))["data"]["ca.crt"]
    trust = ssl.create_default_context(cadata=base64.b64decode(bundle).decode())
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trust)) as session,
        session.get(f"https://localhost:{port}/metrics") as answer,
    ):
        return await answer.text()
