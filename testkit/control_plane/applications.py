"""Applications of Argo CD, and the Git repository that they follow."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testkit.api import Api, Manifest, until
from testkit.api.resource import TRAINING_JOBS, Resource
from testkit.cluster.argocd_processes import NAMESPACE, ArgoCd
from testkit.cluster.audit import AuditEvent

APPLICATIONS = Resource("argoproj.io/v1alpha1", "applications", "Application")
CONTROLLER = f"system:serviceaccount:{NAMESPACE}:argocd-application-controller"
REFRESH = "argocd.argoproj.io/refresh"
COMPARE = "argocd.argoproj.io/compare-options"
HERE = "https://kubernetes.default.svc"
WRITES = ("create", "update", "patch", "delete")


class Repository:
    """A Git repository in a folder of this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self._git("init", "--quiet", "--initial-branch=main")

    @property
    def url(self) -> str:
        return f"file://{self.folder}"

    def commit(self, files: Mapping[str, str | None]) -> None:
        """Write these files, by their paths, and commit; None removes a file."""
        for name, text in files.items():
            path = self.folder / name
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        self._git("add", "--all")
        self._git("-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "--quiet", "--message=change")

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.folder, check=True, capture_output=True)


@dataclass(frozen=True)
class Application:
    api: Api
    argocd: ArgoCd
    name: str

    async def sees(self, what: str, holds: Callable[[Manifest], object], seconds: float = 120.0) -> Manifest:
        """Wait until `holds` is true of its status."""

        async def look() -> Manifest:
            self.argocd.check()
            found: Manifest = (await self.api.get(APPLICATIONS, self.name, NAMESPACE)).get("status", {})
            return found

        return await until(look, holds, seconds=seconds, what=f"{what} of {self.name}")

    async def sees_health(self, health: str) -> Manifest:
        """Wait until it is synced and its health is this word."""
        return await self.sees(health, lambda status: _states(status) == ("Synced", health))

    async def compares_again(self, on_the_server: bool = False) -> Manifest:
        """Let Argo CD render the manifests and compare them with the live objects; return the status afterwards.

        `on_the_server`: from now on, compare with what the API server answers to a dry run.
        """
        asked = {REFRESH: "hard", **({COMPARE: "ServerSideDiff=true"} if on_the_server else {})}
        await self.api.patch(APPLICATIONS, self.name, NAMESPACE, {"metadata": {"annotations": asked}})
        found = await until(
            lambda: self.api.get(APPLICATIONS, self.name, NAMESPACE),
            lambda seen: REFRESH not in seen["metadata"].get("annotations", {}),
            what=f"the comparison of {self.name}",
        )
        status: Manifest = found["status"]
        return status

    async def differences(self) -> Mapping[str, tuple[Any, Any]]:
        """By kind and name: the live object, and what a sync would make of it, where they differ."""
        answer = await asyncio.to_thread(self._ask, "GET", "managed-resources", None)
        states = {
            f"{one['kind']}/{one['name']}": (_read(one, "normalizedLiveState"), _read(one, "predictedLiveState"))
            for one in answer.get("items", ())
        }
        return {name: pair for name, pair in states.items() if pair[0] != pair[1]}

    async def health_of(self, kind: str, name: str) -> Mapping[str, str]:
        """Argo CD's word and message for one object."""
        tree = await asyncio.to_thread(self._ask, "GET", "resource-tree", None)
        [node] = [one for one in tree["nodes"] if (one["kind"], one["name"]) == (kind, name)]
        found: Mapping[str, str] = node["health"]
        return found

    async def actions(self, namespace: str, job: str) -> set[str]:
        """The actions that Argo CD offers for a TrainingJob."""
        found = await asyncio.to_thread(self._ask, "GET", "resource/actions", None, **_resource(namespace, job))
        return {one["name"] for one in found["actions"] if not one.get("disabled")}

    async def act(self, namespace: str, job: str, action: str) -> None:
        """Run an action as a user of Argo CD does. Raises ClusterError with Argo CD's message."""
        body = {**_resource(namespace, job), "action": action}
        await asyncio.to_thread(self._ask, "POST", "resource/actions/v2", body)

    def writes(self, resource: str, namespace: str) -> Sequence[AuditEvent]:
        """All writes of Argo CD's controller to one kind of object in one namespace."""
        return [
            event
            for event in self.argocd.cluster.audit_events()
            if (event.user, event.resource, event.namespace) == (CONTROLLER, resource, namespace)
            and event.verb in WRITES
            and "dryRun" not in event.uri
        ]

    def _ask(self, method: str, path: str, body: object, **query: str) -> Any:
        return self.argocd.request(method, f"applications/{self.name}/{path}", body, **query)


async def follow(
    api: Api, argocd: ArgoCd, name: str, source: Manifest, namespace: str, *options: str, **policy: Any
) -> Application:
    """Create an Application that is synced automatically. `options`: those of each sync."""
    automated = {"prune": True, "selfHeal": True}
    spec = {
        "project": "default",
        "source": {"targetRevision": "main", **source},
        "destination": {"server": HERE, "namespace": namespace},
        "syncPolicy": {"automated": automated, "syncOptions": list(options), **policy},
    }
    await api.create(APPLICATIONS, {"metadata": {"name": name}, "spec": spec}, NAMESPACE)
    return Application(api, argocd, name)


def _states(status: Manifest) -> tuple[str, str]:
    return status.get("sync", {}).get("status", ""), status.get("health", {}).get("status", "")


def _read(found: Manifest, field: str) -> Any:
    return json.loads(found.get(field) or "null")


def _resource(namespace: str, job: str) -> dict[str, str]:
    group, _, version = TRAINING_JOBS.api_version.partition("/")
    kind = TRAINING_JOBS.kind
    return {"namespace": namespace, "resourceName": job, "group": group, "version": version, "kind": kind}
