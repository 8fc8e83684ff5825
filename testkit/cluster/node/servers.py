"""The servers that run on the machine itself, beside the nodes: the control plane, DNS and S3."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from testkit.cluster import binaries, kubectl
from testkit.cluster.api_server import ApiServer, Reach
from testkit.cluster.etcd import Etcd
from testkit.cluster.node import programs
from testkit.cluster.node.cluster_folder import API_PORT, DOMAIN, HOST, NETWORK, S3_PORT, ClusterFolder
from testkit.cluster.object_store import ObjectStore
from testkit.cluster.port import listens
from testkit.cluster.process import Process, wait_until

DNS_PORT = 53
# Names of the cluster only: nothing that runs in it needs the world outside.
COREFILE = """\
{domain}:{port} in-addr.arpa:{port} {{
    bind {address}
    errors
    kubernetes {domain} in-addr.arpa {{
        kubeconfig {kubeconfig}
        ttl 1
    }}
}}
.:{port} {{
    bind {address}
    errors
    template ANY ANY . {{
        rcode NXDOMAIN
    }}
}}
"""


class Servers:
    """The servers end with this process, for any reason."""

    def __init__(self, place: ClusterFolder) -> None:
        self._place = place
        folder = place.running
        self._etcd = Etcd(binaries.programs(), folder)
        self.api_server = ApiServer(binaries.programs(), folder, self._etcd.url, Reach(HOST, API_PORT, nodes=True))
        self._s3 = ObjectStore(folder / "s3", f"{HOST}:{S3_PORT}")
        self._others: list[Process] = []

    def start_control_plane(self) -> None:
        self._etcd.start()
        self.api_server.start()
        self._start("kube-controller-manager", binaries.programs(), self._controller_flags())
        self._start("kube-scheduler", programs.node().folder(), self._client_flags("kube-scheduler"))

    def start_dns(self) -> None:
        config = self._place.running / "Corefile"
        user = self._user("coredns", "system:masters")
        config.write_text(COREFILE.format(port=DNS_PORT, address=HOST, domain=DOMAIN, kubeconfig=user))
        running = self._start("coredns", programs.coredns().folder(), {"conf": str(config)})
        wait_until(lambda: listens(HOST, DNS_PORT), running)

    def start_s3(self) -> Mapping[str, str]:
        """Start S3. Return the environment of its clients, for pods and for this machine."""
        self._s3.open()
        return self._s3.environment

    def kill(self) -> None:
        for process in self._others:
            process.kill()
        self._s3.kill()
        self.api_server.close()
        self._etcd.kill()

    def _start(self, name: str, folder: Path, flags: Mapping[str, str]) -> Process:
        running = Process(folder / name, flags, self._place.logs / f"{name}.log")
        self._others.append(running)
        return running

    def _controller_flags(self) -> Mapping[str, str]:
        """Start all controllers, each with its own service account."""
        return {
            **self._client_flags("kube-controller-manager"),
            "use-service-account-credentials": "true",
            "service-account-private-key-file": str(self.api_server.tokens.key),
            "root-ca-file": str(self.api_server.ca.own.certificate),
            "cluster-cidr": NETWORK,
        }

    def _client_flags(self, name: str) -> Mapping[str, str]:
        """Return the flags. Leader election is off, because there is one process of each kind."""
        return {"kubeconfig": str(self._user(f"system:{name}")), "leader-elect": "false", "secure-port": "0"}

    def _user(self, name: str, *groups: str) -> Path:
        ca = self.api_server.ca
        path = self._place.running / f"{name.rpartition(':')[2]}.kubeconfig"
        return kubectl.make(path, self.api_server.url, ca.own.certificate, ca.user(name, groups))
