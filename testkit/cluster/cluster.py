"""The cluster of the tests: a control plane of our own, or another one that KUBECONFIG names."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from testkit.cluster import audit, binaries, crds, kubectl
from testkit.cluster.certificates import CertificateAuthority
from testkit.cluster.control_plane import ControlPlane
from testkit.cluster.errors import ClusterError
from testkit.cluster.kubectl import Kubectl


@dataclass(frozen=True)
class Cluster:
    """A cluster and its current user: an administrator at first."""

    server: str
    kubectl: Kubectl
    folder: Path
    """For the kubeconfigs of other users; the folder of the control plane if it is our own."""
    is_ours: bool
    control_plane: ControlPlane | None = None
    """Set if this process started it."""

    @classmethod
    def of(cls, plane: ControlPlane) -> Self:
        return replace(cls.in_folder(plane.folder), control_plane=plane)

    @classmethod
    def in_folder(cls, folder: Path) -> Self:
        """A control plane of our own that another process started."""
        kubectl = Kubectl(binaries.kubectl(), folder / "kubeconfig", folder / "kubectl")
        return cls(_server(kubectl), kubectl, folder, is_ours=True)

    @classmethod
    def from_environment(cls, folder: Path) -> Self | None:
        """The cluster that KUBECONFIG names, with our and KubeRay's CRDs installed; None if it names none."""
        if not os.environ.get("KUBECONFIG"):
            return None
        program = shutil.which("kubectl") or binaries.kubectl()
        kubectl = Kubectl(Path(program), Path(os.environ["KUBECONFIG"]), folder / "kubectl")
        crds.install(kubectl, crds.files())
        return cls(_server(kubectl), kubectl, folder, is_ours=False)

    @property
    def kubeconfig(self) -> Path:
        return self.kubectl.kubeconfig

    def as_user(self, name: str, groups: Sequence[str] = ()) -> Self:
        """The cluster as seen by any user with any groups. The user need not exist."""
        certificate = CertificateAuthority(self._our_folder("invents users") / "certificates").user(name, groups)
        return self._asked_by(kubectl.with_certificate(certificate))

    def as_service_account(self, namespace: str, name: str) -> Self:
        return self._asked_by({"token": self.token(namespace, name)})

    def token(self, namespace: str, name: str, audience: str | None = None, seconds: int = 3600) -> str:
        """A service account's token; for the API server itself without an audience."""
        wanted = [] if audience is None else [f"--audience={audience}"]
        return self.kubectl("create", "token", name, f"-n={namespace}", f"--duration={seconds}s", *wanted).strip()

    def audit_events(self) -> Iterator[audit.AuditEvent]:
        """All requests so far, in the order of their answers."""
        log = self._our_folder("reads the audit log") / audit.LOG
        return audit.read(log)

    def restart_api_server(self) -> None:
        self.stop_api_server()
        self.start_api_server()

    def stop_api_server(self, kill: bool = False) -> None:
        """Stop it gracefully, or with SIGKILL. The stored data stays."""
        server = self._own("stops the API server").api_server
        if kill:
            server.kill()
        else:
            server.stop()

    def start_api_server(self) -> None:
        """Start it at the same address; return when it is ready."""
        self._own("starts the API server").api_server.start()

    def _asked_by(self, user: Mapping[str, str]) -> Self:
        seen = json.loads(self.kubectl("config", "view", "--raw", "--minify", "--flatten", "-o", "json"))
        path = kubectl.with_user(self.folder / f"{secrets.token_hex(4)}.kubeconfig", seen, user)
        return replace(self, kubectl=replace(self.kubectl, kubeconfig=path))

    def _our_folder(self, why: str) -> Path:
        if not self.is_ours:
            raise ClusterError(f"this test {why}: it needs a control plane of its own, so unset KUBECONFIG")
        return self.folder

    def _own(self, why: str) -> ControlPlane:
        self._our_folder(why)
        if self.control_plane is None:
            raise ClusterError(f"this test {why}, which others use too: take the fixture exclusive_cluster")
        return self.control_plane


def _server(kubectl: Kubectl) -> str:
    return kubectl("config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}")
