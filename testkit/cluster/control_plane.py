"""A control plane of our own: etcd, kube-apiserver, and the few controllers that the tests need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from testkit.cluster import binaries, template
from testkit.cluster.api_server import ApiServer
from testkit.cluster.etcd import Etcd
from testkit.cluster.locks import Folder
from testkit.cluster.process import Process

# No Job controller: the tests simulate it, and nothing runs pods.
CONTROLLERS = (
    "garbage-collector-controller",
    "namespace-controller",
    "serviceaccount-controller",
    "root-ca-certificate-publisher-controller",
    "clusterrole-aggregation-controller",
)


class ControlPlane:
    """Runs inside its `with` block: without root, on a free port, with all files in one temporary folder.

    `more`: further controllers of the kube-controller-manager.
    """

    def __init__(self, more: Sequence[str] = ()) -> None:
        self._programs, self._names = binaries.programs(), (*CONTROLLERS, *more)
        self._temporary = Folder()
        self.folder = self._temporary.path
        self._etcd = Etcd(self._programs, self.folder)
        self.api_server = ApiServer(self._programs, self.folder, self._etcd.url)
        self._controllers: Process | None = None

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
        """The CRDs exist before the start: the garbage collector looks for new kinds only every 30 s."""
        template.copy(self._programs, self._etcd.data)
        self._etcd.start()
        self.api_server.start()
        log = self.folder / "kube-controller-manager.log"
        self._controllers = Process(self._programs / "kube-controller-manager", self._controller_flags(), log)

    def _controller_flags(self) -> Mapping[str, str]:
        return {
            "kubeconfig": str(self.api_server.kubeconfig),
            "controllers": ",".join(self._names),
            "use-service-account-credentials": "true",
            "service-account-private-key-file": str(self.api_server.tokens.key),
            "root-ca-file": str(self.api_server.ca.own.certificate),
            "leader-elect": "false",
            "secure-port": "0",
            # A thousand owned objects are deleted in seconds, not in a minute.
            "kube-api-qps": "500",
            "kube-api-burst": "1000",
        }

    def _end(self) -> None:
        """Nothing is kept, so the programs are killed without a graceful shutdown."""
        if self._controllers is not None:
            self._controllers.kill()
        self.api_server.close()
        self._etcd.kill()
        self._temporary.remove()
