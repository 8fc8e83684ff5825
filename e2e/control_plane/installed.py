"""The operator as its manifests install it: a real process under its own service account, and jobs that live by it."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from e2e.api import Api, until
from e2e.api.resource import SECRETS, TRAINING_JOBS
from e2e.cluster.audit import AuditEvent
from e2e.cluster.cluster import Cluster
from e2e.harness import Kind, Lifecycle, nothing_left, training_job
from e2e.harness.lifecycle import NAME, User
from e2e.players import Stage
from e2e.server.posting import PostsOverTls
from ruamel.yaml import YAML

from .operators import OperatorProcess, eventually, operator

MANIFESTS = Path(__file__).parents[2] / "operator" / "manifests"
NAMESPACE = "trainwright"
PERMISSIONS = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
ACCOUNT = "system:serviceaccount:trainwright:trainwright-operator"
QUICK = {
    "TRAINWRIGHT_BACKOFF_BASE": "0.05",
    "TRAINWRIGHT_RETRY_BASE": "0.05",
    "TRAINWRIGHT_OVERLAP_GRACE": "0.5",
    "TRAINWRIGHT_MAX_WORKERS": "3",
    # Certificates are looked after every 9 seconds then.
    "TRAINWRIGHT_CERTIFICATE_DAYS": "0.002",
}


@dataclass(frozen=True)
class Installed:
    cluster: Cluster
    process: OperatorProcess
    port: int

    def asked(self) -> Sequence[AuditEvent]:
        """Every request of the operator's so far, kopf's included."""
        return [event for event in self.cluster.audit_events() if event.user == ACCOUNT]

    @asynccontextmanager
    async def stage(self) -> AsyncIterator[tuple[Api, Stage]]:
        """The players of the whole cluster. Trainers post to the operator, as their pods are told."""
        async with Api(self.cluster.kubeconfig) as api, Stage(api, posts=PostsOverTls) as stage:
            yield api, stage


@contextmanager
def installed(cluster: Cluster, folder: Path, manifest: str, **settings: str) -> Iterator[Installed]:
    """Its namespaces have to be there."""
    apply(cluster, *objects("namespace.yaml"), *objects(manifest, *PERMISSIONS))
    account, port = cluster.as_service_account(NAMESPACE, "trainwright-operator"), _free_port()
    told = {"TRAINWRIGHT_SERVER_PORT": str(port), "TRAINWRIGHT_PROGRESS_URL": f"https://localhost:{port}"}
    with operator(account, folder / "operator.log", "one", **{**QUICK, **told, **settings}) as process:
        eventually(lambda: "all is listed" in process.messages(), process)
        yield Installed(cluster, process, port)


def objects(manifest: str, *kinds: str) -> list[dict[str, Any]]:
    """Those of a manifest, all or of some kinds. As JSON has them: without YAML's anchors."""
    found = json.loads(json.dumps(list(YAML(typ="safe").load_all((MANIFESTS / manifest).read_text()))))
    return [one for one in found if not kinds or one["kind"] in kinds]


def webhook(port: int) -> Mapping[str, Any]:
    """The manifest for an operator that runs beside the API server, at its port."""
    [found] = objects("webhook-local.yaml")
    [entry] = found["webhooks"]
    entry["clientConfig"]["url"] = entry["clientConfig"]["url"].replace(":9443/", f":{port}/")
    return found


async def lives(api: Api, stage: Stage, namespace: str, life: Lifecycle, kind: Kind) -> None:
    """One job, in a namespace where no other is."""
    stage.scripts.give(namespace, NAME, *life.scripts)
    await api.create(TRAINING_JOBS, training_job(NAME, kind, **life.spec), namespace)
    await life.story(User(api, namespace, stage))


async def one_after_the_other(api: Api, stage: Stage, namespace: str, found: Sequence[tuple[Lifecycle, Kind]]) -> None:
    """In one namespace. What a job leaves is gone before the next one comes."""
    for life, kind in found:
        await lives(api, stage, namespace, life, kind)
        await api.delete(TRAINING_JOBS, NAME, namespace)
        await nothing_left(api, namespace)


async def certificates_are_mended(api: Api) -> None:
    """The Secret is damaged by hand, and made good again by the leader."""

    async def certificate() -> str:
        return str((await api.get(SECRETS, "trainwright-tls", NAMESPACE))["data"].get("tls.crt", ""))

    await until(certificate, bool, seconds=60, what="the certificates")
    await api.patch(SECRETS, "trainwright-tls", NAMESPACE, {"data": {"tls.crt": ""}})
    await until(certificate, bool, seconds=60, what="the certificates, made anew")


def posted(stage: Stage, at_least: int) -> None:
    """Outcomes went through the endpoint, with tokens of their pods, and none was refused."""
    assert isinstance(stage.posts, PostsOverTls)
    assert stage.posts.taken >= at_least
    assert stage.posts.refused == []


def apply(cluster: Cluster, *objects: Mapping[str, Any]) -> None:
    whole = {"apiVersion": "v1", "kind": "List", "items": objects}
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(whole))


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
