"""Servers of operators that share a Secret and a webhook, each on its own port."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp

from testkit.api.waiting import until
from testkit.cluster.cluster import Cluster
from trainwright_operator.kube.client import Client
from trainwright_operator.kube.connection import Connection
from trainwright_operator.kube.errors import ApiError
from trainwright_operator.kube.resources import TRAINING_JOBS
from trainwright_operator.policy import Policy
from trainwright_operator.server.admission_endpoint import AdmissionEndpoint
from trainwright_operator.server.admission_worker import AdmissionWorker
from trainwright_operator.server.app import application, serving
from trainwright_operator.server.certificate_rotator import CertificateRotator
from trainwright_operator.server.health import Health
from trainwright_operator.server.metrics import Metrics
from trainwright_operator.server.pod_identity import Reviews
from trainwright_operator.server.progress import ProgressEndpoint
from trainwright_operator.settings import Settings


@dataclass
class Clock:
    """The machine's clock, moved by `offset`. TLS itself verifies certificates with the machine's unmoved clock."""

    offset: timedelta = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.offset


@dataclass
class Alive:
    leading: bool = True
    silences: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Server:
    """The server of one operator."""

    client: Client
    rotator: CertificateRotator
    metrics: Metrics
    port: int

    def session(self, bundle: str | None = None) -> aiohttp.ClientSession:
        """A session that trusts the bundle, by default the current one. Every request opens its own connection."""
        trust = ssl.create_default_context(cadata=bundle or self.rotator.bundle)
        connector = aiohttp.TCPConnector(ssl=trust, force_close=True)
        return aiohttp.ClientSession(f"https://localhost:{self.port}", connector=connector)


@asynccontextmanager
async def server(
    cluster: Cluster, namespace: str, clock: Clock | None = None, *, leading: bool = True, interval: float = 15.0
) -> AsyncIterator[Server]:
    """Run a server within the block. Its Secret is in `namespace`, and its webhook has the same name."""
    now, metrics = clock or Clock(), Metrics()
    settings = Settings(namespace=namespace, progress_interval=interval, policy=Policy(inline_keys=True))
    async with Client(await Connection.open(str(cluster.kubeconfig))) as client:
        rotator = CertificateRotator(client, settings, now, webhook=namespace)
        await rotator.refresh(leading=leading)
        progress = ProgressEndpoint(
            client, Reviews(client, lambda: now().timestamp()), metrics, interval=interval, now=now
        )
        health = Health(Alive(), settings.stale_after, lambda: rotator.loaded)
        async with AdmissionWorker(settings, seconds=60) as worker:
            admission = AdmissionEndpoint(metrics, worker.answer)
            app = application(admission=admission, progress=progress, metrics=metrics, health=health)
            async with serving(app, rotator.context, 0, "127.0.0.1") as port:
                yield Server(client, rotator, metrics, port)


def webhook(namespace: str, *ports: int) -> dict[str, Any]:
    """The webhook for the jobs of one namespace, with an entry for each port."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": namespace},
        "webhooks": [_entry(namespace, port, number) for number, port in enumerate(ports)],
    }


def _entry(namespace: str, port: int, number: int) -> dict[str, Any]:
    return {
        "name": "trainingjobs.trainwright.dev" if number == 0 else f"trainingjobs-{number}.trainwright.dev",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "timeoutSeconds": 10,
        "matchPolicy": "Equivalent",
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "rules": [
            {
                "apiGroups": ["trainwright.dev"],
                "apiVersions": ["v1alpha1"],
                "operations": ["CREATE", "UPDATE"],
                "resources": ["trainingjobs"],
            }
        ],
        "clientConfig": {"url": f"https://localhost:{port}/admission"},
    }


@asynccontextmanager
async def admitting(cluster: Cluster, namespace: str, clock: Clock | None = None) -> AsyncIterator[Server]:
    """A server whose webhook validates the jobs of `namespace` within the block."""
    async with server(cluster, namespace, clock) as running, registered(running, webhook(namespace, running.port)):
        yield running


@asynccontextmanager
async def registered(leader: Server, configuration: dict[str, Any]) -> AsyncIterator[None]:
    """Create the webhook, set its CA bundle, and wait until the API server calls it."""
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    name = configuration["metadata"]["name"]
    await leader.client.request("POST", path, body=configuration)
    try:
        await leader.rotator.refresh(leading=True)
        await until(
            lambda: _answer(leader, name), lambda reply: "denied the request" in reply, what="the webhook's answer"
        )
        yield
    finally:
        await leader.client.request("DELETE", f"{path}/{name}")


async def _answer(leader: Server, namespace: str) -> str:
    """Return the API server's answer to an invalid job.

    Two watches deliver the webhook and then its CA bundle to the API server. Before the first it accepts the job;
    before the second it trusts no certificate and answers "failed calling webhook".
    """
    wrong = {
        "apiVersion": TRAINING_JOBS.api_version,
        "kind": TRAINING_JOBS.kind,
        "metadata": {"name": "wrong"},
        "spec": {"dataset": "x", "config": {}},
    }
    try:
        await leader.client.request("POST", TRAINING_JOBS.path(namespace), query={"dryRun": "All"}, body=wrong)
    except ApiError as error:
        return error.message
    return "taken"
