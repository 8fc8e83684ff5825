"""The operator as its manifests install it: a real process under its own service account, and lifecycles of jobs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from testkit.api import Api, until
from testkit.api.resource import SECRETS, TRAINING_JOBS
from testkit.cluster import crds
from testkit.cluster.audit import AuditEvent
from testkit.cluster.cluster import Cluster
from testkit.cluster.port import free_port
from testkit.control_plane.operator_process import OperatorProcess, eventually, operator
from testkit.harness import Kind, Lifecycle, nothing_left, training_job
from testkit.harness.lifecycle import NAME, User
from testkit.server.posting import PostsOverTls
from testkit.simulators import Simulators

MANIFESTS = Path(__file__).parents[2] / "operator" / "manifests"
NAMESPACE = "trainwright"
PERMISSIONS = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
ACCOUNT = "system:serviceaccount:trainwright:trainwright-operator"
WORKLOADS = crds.without_schema("kueue.x-k8s.io", "v1beta2", "Workload", "workloads", scope="Namespaced")
"""Its schema is a megabyte."""
SHORT_WAITS = {
    "TRAINWRIGHT_BACKOFF_BASE": "0.05",
    "TRAINWRIGHT_RETRY_BASE": "0.05",
    "TRAINWRIGHT_OVERLAP_GRACE": "0.5",
}
QUICK = {
    **SHORT_WAITS,
    "TRAINWRIGHT_MAX_WORKERS": "3",
    "TRAINWRIGHT_POLICY_INLINE_KEYS": "true",
    # Certificates are then checked every 9 seconds.
    "TRAINWRIGHT_CERTIFICATE_DAYS": "0.002",
}


@dataclass(frozen=True)
class Installed:
    cluster: Cluster
    process: OperatorProcess
    port: int

    def asked(self) -> Sequence[AuditEvent]:
        """Every request of the operator so far, including kopf's."""
        return [event for event in self.cluster.audit_events() if event.user == ACCOUNT]

    @asynccontextmanager
    async def simulators(self) -> AsyncIterator[tuple[Api, Simulators]]:
        """The simulators of the whole cluster. Trainers post to the operator, as their pods' settings say."""
        async with Api(self.cluster.kubeconfig) as api, Simulators(api, posts=PostsOverTls) as simulators:
            yield api, simulators


@contextmanager
def installed(
    cluster: Cluster, folder: Path, manifest: str, *, workloads: Mapping[str, Any] | None = WORKLOADS, **settings: str
) -> Iterator[Installed]:
    """The namespaces must exist. `workloads`: the definition of Kueue's Workload, because the operator watches it; None
    where Kueue itself is installed."""
    if workloads is not None:
        apply(cluster, workloads)
        cluster.kubectl("wait", "--for=condition=Established", f"crd/{workloads['metadata']['name']}", "--timeout=60s")
    apply(cluster, *objects("namespace.yaml"), *objects(manifest, *PERMISSIONS))
    account, port = cluster.as_service_account(NAMESPACE, "trainwright-operator"), free_port()
    addresses = {"TRAINWRIGHT_SERVER_PORT": str(port), "TRAINWRIGHT_PROGRESS_URL": f"https://localhost:{port}"}
    with operator(account, folder / "operator.log", "one", **{**QUICK, **addresses, **settings}) as process:
        eventually(lambda: "all is listed" in process.messages(), process)
        yield Installed(cluster, process, port)


def objects(manifest: str, *kinds: str) -> list[dict[str, Any]]:
    """The objects of a manifest, all or of some kinds. As plain JSON, without YAML anchors."""
    found = json.loads(json.dumps(list(YAML(typ="safe").load_all((MANIFESTS / manifest).read_text()))))
    return [one for one in found if not kinds or one["kind"] in kinds]


def webhook(port: int) -> Mapping[str, Any]:
    """The manifest for an operator that runs beside the API server, at its port."""
    [found] = objects("webhook-local.yaml")
    [entry] = found["webhooks"]
    entry["clientConfig"]["url"] = entry["clientConfig"]["url"].replace(":9443/", f":{port}/")
    return found


async def play_lifecycle(api: Api, simulators: Simulators, namespace: str, lifecycle: Lifecycle, kind: Kind) -> None:
    """Run one job in a namespace without any other."""
    simulators.scripts.give(namespace, NAME, *lifecycle.scripts)
    await api.create(TRAINING_JOBS, training_job(NAME, kind, **lifecycle.spec), namespace)
    await lifecycle.scenario(User(api, namespace, simulators))


async def one_after_the_other(
    api: Api, simulators: Simulators, namespace: str, found: Sequence[tuple[Lifecycle, Kind]]
) -> None:
    """Run them in one namespace. The objects of a job are gone before the next one starts."""
    for lifecycle, kind in found:
        await play_lifecycle(api, simulators, namespace, lifecycle, kind)
        await api.delete(TRAINING_JOBS, NAME, namespace)
        await nothing_left(api, namespace)


async def certificates_are_mended(api: Api) -> None:
    """Damage the Secret manually; the leader repairs it."""

    async def certificate() -> str:
        return str((await api.get(SECRETS, "trainwright-tls", NAMESPACE))["data"].get("tls.crt", ""))

    await until(certificate, bool, seconds=60, what="the certificates")
    await api.patch(SECRETS, "trainwright-tls", NAMESPACE, {"data": {"tls.crt": ""}})
    await until(certificate, bool, seconds=60, what="the certificates, made anew")


def posted(simulators: Simulators, at_least: int) -> None:
    """Check that the endpoint accepted outcomes with the pods' tokens, and refused none."""
    assert isinstance(simulators.posts, PostsOverTls)
    assert simulators.posts.taken >= at_least
    assert simulators.posts.refused == []


def apply(cluster: Cluster, *objects: Mapping[str, Any]) -> None:
    whole = {"apiVersion": "v1", "kind": "List", "items": objects}
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(whole))
