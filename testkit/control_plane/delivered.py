"""The operator as Argo CD installs it: the Application of docs/operations.md, and the operator as a process beside it.

Controllers make the pods of its Deployment, but no kubelet runs them: their statuses are written here.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from testkit.api import Api, Manifest, until
from testkit.api.resource import NAMESPACES, PODS, TRAINING_JOBS, Resource
from testkit.cluster.argocd_processes import NAMESPACE as ARGOCD
from testkit.cluster.argocd_processes import ArgoCd
from testkit.cluster.chart import CHART, ROOT
from testkit.cluster.port import free_port
from testkit.control_plane.applications import Application, Repository, follow
from testkit.control_plane.installed import NAMESPACE, SHORT_WAITS, Installed
from testkit.control_plane.operator_process import eventually, operator
from testkit.simulators import Script, Simulators, pod_status
from trainwright_operator.model import names

CONTROLLERS = ("deployment-controller", "replicaset-controller", "disruption-controller")
"""Those that the chart's objects need."""
DEPLOYMENTS = Resource("apps/v1", "deployments", "Deployment")
SETTINGS = ROOT / "helm" / "argocd" / "argocd-cm.yaml"
QUICK = {
    **SHORT_WAITS,
    # No other operator waits for the Lease. On a busy machine the API server may be silent for longer than 12 s.
    "TRAINWRIGHT_LEASE_DURATION": "120",
}
JOBS = "jobs"
"""The folder of an Application of jobs in the repository holds one folder for each namespace."""


@dataclass(frozen=True)
class Delivered:
    argocd: ArgoCd
    repository: Repository
    installed: Installed

    @asynccontextmanager
    async def chart(self) -> AsyncIterator[Application]:
        async with Api(self.argocd.cluster.kubeconfig) as api:
            yield Application(api, self.argocd, NAMESPACE)

    @asynccontextmanager
    async def team(self) -> AsyncIterator[Jobs]:
        """A namespace whose jobs are in Git. Simulators play the Job controller, KubeRay and the kubelets."""
        async with self.installed.simulators() as (api, simulators):
            namespace = await api.make_namespace("team")
            yield Jobs(api, simulators, self, namespace)
            await api.delete(NAMESPACES, namespace)


@dataclass(frozen=True)
class Jobs:
    api: Api
    simulators: Simulators
    delivered: Delivered
    namespace: str

    def scripted(self, name: str, *scripts: Script) -> None:
        self.simulators.scripts.give(self.namespace, name, *scripts)

    async def ends(self, name: str, script: Script) -> None:
        """Give a running job another script. The change of its pods wakes the simulators."""
        self.scripted(name, script)
        for pod in (await self.api.list(PODS, self.namespace, f"{names.JOB_NAME}={name}")).items:
            woken = {"metadata": {"annotations": {"woken": "true"}}}
            await self.api.patch(PODS, pod["metadata"]["name"], self.namespace, woken)

    def commits(self, *jobs: Manifest) -> None:
        """Write these jobs to Git."""
        named = {"apiVersion": TRAINING_JOBS.api_version, "kind": TRAINING_JOBS.kind}
        self.commits_text({f"{job['metadata']['name']}.yaml": json.dumps({**named, **job}) for job in jobs})

    def commits_text(self, files: Mapping[str, str | None]) -> None:
        self.delivered.repository.commit({f"{JOBS}/{self.namespace}/{name}": text for name, text in files.items()})

    async def follows(self, *options: str) -> Application:
        """The Application of the jobs in Git."""
        source = {"repoURL": self.delivered.repository.url, "path": f"{JOBS}/{self.namespace}"}
        return await follow(self.api, self.delivered.argocd, self.namespace, source, self.namespace, *options)

    async def job(self, name: str) -> Manifest:
        return await self.api.get(TRAINING_JOBS, name, self.namespace)

    async def sees_phase(self, name: str, *phases: str) -> Manifest:
        """Wait until its phase is one of these; any, if none is named."""

        def holds(job: Manifest) -> bool:
            phase = job.get("status", {}).get("phase")
            return phase in phases if phases else bool(phase)

        return await until(lambda: self.job(name), holds, what=f"the phase {' or '.join(phases)} of {name}")


@contextmanager
def delivered(argocd: ArgoCd, folder: Path) -> Iterator[Delivered]:
    """Argo CD installs the chart of this checkout, with the settings for TrainingJobs that it ships."""
    argocd.cluster.kubectl("patch", "configmap", "argocd-cm", f"-n={ARGOCD}", f"--patch-file={SETTINGS}")
    repository = Repository(folder / "repository")
    shutil.copytree(ROOT / CHART, repository.folder / CHART)
    repository.commit({})
    deployment = asyncio.run(_applied(argocd, repository))
    port = free_port()
    account = argocd.cluster.as_service_account(NAMESPACE, "trainwright-operator")
    addresses = {"TRAINWRIGHT_SERVER_PORT": str(port), "TRAINWRIGHT_PROGRESS_URL": f"https://localhost:{port}"}
    settings = {**_settings(deployment), **QUICK, **addresses, "TRAINWRIGHT_NAMESPACE": NAMESPACE}
    with operator(account, folder / "operator.log", "one", **settings) as process:
        eventually(lambda: "all is listed" in process.messages(), process)
        asyncio.run(_run_pods(argocd))
        yield Delivered(argocd, repository, Installed(argocd.cluster, process, port))


def documented() -> Manifest:
    """The Application of docs/operations.md."""
    text = (ROOT / "docs" / "operations.md").read_text()
    [found] = [one for one in re.findall(r"^```yaml\n(.*?)^```", text, re.DOTALL | re.MULTILINE) if "kind: App" in one]
    made: Manifest = json.loads(json.dumps(YAML(typ="safe").load(found)))
    return made


async def _applied(argocd: ArgoCd, repository: Repository) -> Manifest:
    """Create the Application; return its Deployment. No webhook is reached, so a job waits a second for it."""
    spec = documented()["spec"]
    source = {"repoURL": repository.url, "path": CHART, "helm": {"valuesObject": {"webhook": {"timeoutSeconds": 1}}}}
    policy = dict(spec["syncPolicy"])
    assert policy.pop("automated") == {"prune": True, "selfHeal": True}
    options = policy.pop("syncOptions")
    async with Api(argocd.cluster.kubeconfig) as api:
        made = await follow(api, argocd, NAMESPACE, source, spec["destination"]["namespace"], *options, **policy)
        await made.sees("its objects", lambda status: status.get("sync", {}).get("status") == "Synced")
        return await api.get(DEPLOYMENTS, "trainwright-operator", NAMESPACE)


async def _run_pods(argocd: ArgoCd) -> None:
    """Write the statuses of the operator's pods, as kubelets do while the pods are ready."""
    async with Api(argocd.cluster.kubeconfig) as api:
        labels = "app.kubernetes.io/name=trainwright"
        found = await until(lambda: api.list(PODS, NAMESPACE, labels), lambda seen: len(seen.items) == 2)
        for pod in found.items:
            await api.patch_status(PODS, pod["metadata"]["name"], NAMESPACE, pod_status.running(pod))


def _settings(deployment: Manifest) -> dict[str, str]:
    """The operator's settings, as the chart sets them."""
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    env: list[dict[str, Any]] = container["env"]
    return {one["name"]: one["value"] for one in env if "value" in one}
