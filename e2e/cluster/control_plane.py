"""A control plane of our own: etcd, kube-apiserver, and the few controllers that tests rely on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from e2e.cluster import binaries, crds, kubeconfig
from e2e.cluster.api_server import ApiServer
from e2e.cluster.folder import Folder
from e2e.cluster.kubectl import Kubectl
from e2e.cluster.process import Process

# No Job controller: the tests play its part, and nothing runs pods.
CONTROLLERS = (
    "garbage-collector-controller",
    "namespace-controller",
    "serviceaccount-controller",
    "root-ca-certificate-publisher-controller",
    "clusterrole-aggregation-controller",
)
ALONE = "http://localhost:2380"


class ControlPlane:
    """Runs inside its `with` block: without root, on free ports, with all files in one temporary folder."""

    def __init__(self) -> None:
        self._programs = binaries.programs()
        self._temporary = Folder()
        self.folder = self._temporary.path
        self._others: list[Process] = []
        self.api_server = ApiServer(self._programs, self.folder, etcd=f"unix://{self.folder}/etcd.sock")
        self.kubeconfig = self._kubeconfig("kubeconfig")
        self.kubectl = Kubectl(self._programs / "kubectl", self.kubeconfig, self.folder / "kubectl")

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _start(self) -> None:
        """The controllers come last: the garbage collector looks for new kinds only twice a minute."""
        self._run("etcd", self._etcd_flags())
        self.api_server.start()
        crds.install(self.kubectl, crds.files())
        self._run("kube-controller-manager", self._controller_flags())

    def _run(self, name: str, flags: Mapping[str, str]) -> None:
        self._others.append(Process(self._programs / name, flags, self.folder / f"{name}.log"))

    def _etcd_flags(self) -> Mapping[str, str]:
        """Sockets instead of ports, and no care for a power failure. Being alone, it calls nobody."""
        return {
            "name": "default",
            "data-dir": str(self.folder / "etcd"),
            "unsafe-no-fsync": "true",
            "listen-client-urls": f"unix://{self.folder}/etcd.sock",
            "listen-peer-urls": f"unix://{self.folder}/peers.sock",
            "advertise-client-urls": ALONE,
            "initial-advertise-peer-urls": ALONE,
            "initial-cluster": f"default={ALONE}",
            "quota-backend-bytes": str(8 << 30),
            "log-level": "error",
        }

    def _controller_flags(self) -> Mapping[str, str]:
        config = str(self._kubeconfig("controllers.kubeconfig"))
        return {
            "kubeconfig": config,
            "controllers": ",".join(CONTROLLERS),
            "use-service-account-credentials": "true",
            "service-account-private-key-file": str(self.api_server.tokens.key),
            "root-ca-file": str(self.api_server.authority.own.certificate),
            "leader-elect": "false",
            "secure-port": "0",
            # A thousand owned objects go in seconds, not in a minute.
            "kube-api-qps": "500",
            "kube-api-burst": "1000",
        }

    def _kubeconfig(self, name: str) -> Path:
        server = self.api_server
        return kubeconfig.make(self.folder / name, server.url, server.authority.own.certificate, server.admin)

    def _end(self) -> None:
        """Nothing is to be kept, so nothing is asked to end in order."""
        self.api_server.kill()
        for process in self._others:
            process.kill()
        self.api_server.close()
        self._temporary.remove()
