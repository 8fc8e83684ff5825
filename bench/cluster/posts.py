"""Thousands of pods post while the API server takes a second for each answer: the leader keeps its Lease and works.

Every pod has a token of its own, so nothing is cached at the first post. Then each posts every five seconds, as a
trainer does, and later if it is asked to.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
import time
from collections import Counter
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import aiohttp
from testkit.api import Manifest, Resource, until
from testkit.api.resource import LEASES, PODS, SECRETS, TRAINING_JOBS
from testkit.api.waiting import until_object
from testkit.cluster.port import Port
from testkit.control_plane.posting_job import PROGRESS
from testkit.harness.jobs import training_job
from testkit.proxy import Proxy
from testkit.proxy.faults import Delay, Rule

from bench.cluster import program
from bench.cluster.environment import AT_ONCE, NAMESPACE, OPERATORS_OWN, Environment, environment
from bench.results import Result, result
from trainwright_api.resource.environment import AUDIENCE
from trainwright_operator.model import names

PODS_COUNT = 2_000
POST_SECONDS = 5.0
DELAY_SECONDS = 1.0
SECONDS = 120.0
"""The duration of the posts."""
JOBS = 10
"""The jobs that are created meanwhile: the leader's passes create their children."""
CERTIFICATES = "trainwright-tls"
ACCOUNTS = Resource("v1", "serviceaccounts", "ServiceAccount")

T = TypeVar("T")


@dataclass
class Posts:
    """The answers to the posts of all pods."""

    url: str
    trust: ssl.SSLContext
    ends: float
    answers: Counter[int] = field(default_factory=Counter)

    async def of_pod(self, uid: str, token: str) -> None:
        """Post until the end."""
        headers, report = {"Authorization": f"Bearer {token}"}, {"uid": uid, "attempt": 1, "progress": PROGRESS}
        connector = aiohttp.TCPConnector(ssl=self.trust, force_close=True)
        async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(60)) as session:
            while time.monotonic() < self.ends:
                pause = POST_SECONDS
                try:
                    async with session.post(self.url, json=report, headers=headers) as answer:
                        self.answers[answer.status] += 1
                        pause = max(pause, float(answer.headers.get("Retry-After", 0)))
                except (aiohttp.ClientError, TimeoutError):
                    self.answers[0] += 1
                await asyncio.sleep(pause)


async def run(pods: int = PODS_COUNT, seconds: float = SECONDS) -> dict[str, Result]:
    port = Port()
    async with environment() as here, Proxy(here.as_user("operator"), here.folder) as proxy:
        job = await here.api.create(TRAINING_JOBS, training_job("posts"), NAMESPACE)
        uid = job["metadata"]["uid"]
        account = partial(here.api.get, ACCOUNTS, "default", NAMESPACE)
        await until(account, bool, seconds=60.0, what="the service account of the namespace")
        tokens = await _together(_token(here, job, number) for number in range(pods))
        settings = {"TRAINWRIGHT_SERVER_PORT": str(port.number)}
        port.close()
        log = here.folder / "operator.log"
        async with program.running(program.OPERATOR, proxy.kubeconfig, log, settings) as ours:
            await ours.says(program.LOOKED_AT)
            trust = await _trust(here)
            proxy.rules.append(Rule(Delay(seconds=DELAY_SECONDS), times=None))
            posts = Posts(
                f"https://localhost:{port.number}/v1/namespaces/{NAMESPACE}/jobs/posts",
                trust,
                time.monotonic() + seconds,
            )
            before = await _transitions(here)
            posting = [asyncio.create_task(posts.of_pod(uid, token)) for token in tokens]
            started = await _started(here)
            await asyncio.gather(*posting)
            lost = await _transitions(here) - before + (ours.process.poll() is not None)
            return {
                f"{pods:,} pods post, the API server takes 1 s: Leases lost": result(lost, "", "= 0"),
                f"{pods:,} pods post: {JOBS} new jobs have their children": result(started, "s"),
                f"{pods:,} pods post: peak memory of the operator": result(ours.peak_mib, "MiB", "≤ 500"),
                f"{pods:,} pods post: posts that are taken": result(posts.answers[200], ""),
                f"{pods:,} pods post: posts that are put off (503)": result(posts.answers[503], ""),
                f"{pods:,} pods post: posts with any other answer": result(_others(posts), ""),
            }


def _others(posts: Posts) -> int:
    return sum(count for code, count in posts.answers.items() if code not in (200, 503))


async def _token(here: Environment, job: Manifest, number: int) -> str:
    """A token for a pod of the job, which runs nowhere."""
    uid, kind = job["metadata"]["uid"], {"apiVersion": TRAINING_JOBS.api_version, "kind": TRAINING_JOBS.kind}
    owner = {**kind, "name": "posts", "uid": uid, "controller": True}
    labels = dict(names.labels("posts", uid, 1, "train"))
    metadata = {"name": f"posts-{number}", "labels": labels, "ownerReferences": [owner]}
    # Not on a node, and for no scheduler of this cluster.
    spec = {"containers": [{"name": "trainer", "image": "none"}], "schedulerName": "none"}
    pod = await here.api.create(PODS, {"metadata": metadata, "spec": spec}, NAMESPACE)
    bound = {"kind": "Pod", "apiVersion": "v1", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
    asked = {"audiences": [AUDIENCE], "expirationSeconds": 3600, "boundObjectRef": bound}
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": asked}
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default/token"
    return str((await here.api.request("POST", path, request))["status"]["token"])


async def _together(work: Iterable[Awaitable[T]]) -> list[T]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(each: Awaitable[T]) -> T:
        async with gate:
            return await each

    return await asyncio.gather(*(one(each) for each in work))


async def _trust(here: Environment) -> ssl.SSLContext:
    """The CA of the operator's server."""
    secret = await until_object(here.api, SECRETS, CERTIFICATES, OPERATORS_OWN)
    return ssl.create_default_context(cadata=_decoded(secret["data"]["ca.crt"]))


def _decoded(text: str) -> str:
    return base64.b64decode(text).decode()


async def _transitions(here: Environment) -> int:
    [lease] = (await here.api.list(LEASES, OPERATORS_OWN)).items
    return int(lease["spec"].get("leaseTransitions") or 0)


async def _started(here: Environment) -> float:
    """Create jobs, and return the seconds until all of them have a child."""
    began = time.monotonic()
    for number in range(JOBS):
        await here.api.create(TRAINING_JOBS, training_job(f"meanwhile-{number}"), NAMESPACE)
    while True:
        jobs = (await here.api.list(TRAINING_JOBS, NAMESPACE)).items
        begun = [job for job in jobs if job["metadata"]["name"] != "posts" and _has_child(job)]
        if len(begun) == JOBS:
            return time.monotonic() - began
        await asyncio.sleep(program.LOOK_SECONDS * 10)


def _has_child(job: Manifest) -> bool:
    attempts = job.get("status", {}).get("attempts", ())
    return any("createTime" in attempt for attempt in attempts)
