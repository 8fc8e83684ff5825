"""kube-apiserver: its command line and its readiness."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from testkit.cluster import audit, binaries, kubectl
from testkit.cluster.certificates import Certificate, CertificateAuthority
from testkit.cluster.kubectl import Kubectl
from testkit.cluster.port import LOOPBACK, Port
from testkit.cluster.process import Process, wait_until

ISSUER = "https://kubernetes.default.svc"
# The concurrency of a benchmark. The server's defaults (400 and 200) would limit the measurement.
REQUESTS_AT_ONCE = {"max-requests-inflight": "3000", "max-mutating-requests-inflight": "1500"}
SERVICES = "10.96.0.0/16"
FIRST_SERVICE = "10.96.0.1"


@dataclass(frozen=True)
class Reach:
    """The address where a server listens; port 0 is any free one."""

    address: str = LOOPBACK
    port: int = 0
    nodes: bool = False

    def names(self) -> Sequence[str]:
        return ["DNS:localhost", "DNS:kubernetes.default.svc", f"IP:{FIRST_SERVICE}", f"IP:{self.address}"]


ALONE = Reach()


class ApiServer:
    """The server on a port that stays the same over restarts, with all its files in one folder."""

    def __init__(self, programs: Path, folder: Path, etcd: str, reach: Reach = ALONE) -> None:
        self._programs, self._folder, self._etcd, self._reach = programs, folder, etcd, reach
        self._port = Port(reach.address, reach.port)
        self.ca = CertificateAuthority.new(folder / "certificates")
        self._serving = self.ca.server("kube-apiserver", reach.names())
        self.tokens = self.ca.key_pair("service-accounts")
        self.admin = self.ca.user("admin", ["system:masters"])
        self.audit_log = folder / audit.LOG
        (folder / "audit-policy.yaml").write_text(json.dumps(audit.POLICY))
        self.kubeconfig = kubectl.make(folder / "kubeconfig", self.url, self.ca.own.certificate, self.admin)
        self.kubectl = Kubectl(binaries.kubectl(), self.kubeconfig, folder / "kubectl")
        self._process: Process | None = None

    @property
    def url(self) -> str:
        return f"https://{self._reach.address}:{self._port.number}"

    def start(self) -> None:
        """Start the server, unless it runs, and wait until it is ready."""
        if self._process is None:
            log = self._folder / "kube-apiserver.log"
            self._process = Process(self._programs / "kube-apiserver", self._flags(), log)
        wait_until(self._is_ready, self._process)

    def stop(self) -> None:
        """Shut down gracefully: requests in flight are answered."""
        if self._process is not None:
            self._process.stop()
            self._process = None

    def kill(self) -> None:
        """End at once, as in a power failure."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def _flags(self) -> Mapping[str, str]:
        return {
            "etcd-servers": self._etcd,
            "bind-address": self._reach.address,
            "secure-port": str(self._port.number),
            "permit-port-sharing": "true",
            "advertise-address": self._reach.address,
            "endpoint-reconciler-type": "none",
            "service-cluster-ip-range": SERVICES,
            "client-ca-file": str(self.ca.own.certificate),
            "tls-cert-file": str(self._serving.certificate),
            "tls-private-key-file": str(self._serving.key),
            "service-account-issuer": ISSUER,
            "service-account-key-file": str(self.tokens.certificate),
            "service-account-signing-key-file": str(self.tokens.key),
            "authorization-mode": "Node,RBAC",
            # As on OpenShift: a child that blocks the deletion of its owner needs a permission on the owner.
            "enable-admission-plugins": "OwnerReferencesPermissionEnforcement",
            "audit-policy-file": str(self._folder / "audit-policy.yaml"),
            "audit-log-path": str(self.audit_log),
            "audit-log-maxsize": "10000",
            # Without it the shutdown waits for all watches.
            "shutdown-watch-termination-grace-period": "1s",
            **REQUESTS_AT_ONCE,
            **self._nodes(),
        }

    def _nodes(self) -> Mapping[str, str]:
        """Flags for a cluster with nodes: pods use the service `kubernetes`, the server reads logs from kubelets."""
        if not self._reach.nodes:
            return {}
        user = self.ca.user("kube-apiserver", ["system:masters"])
        return {
            "endpoint-reconciler-type": "lease",
            "kubelet-preferred-address-types": "InternalIP",
            "kubelet-client-certificate": str(user.certificate),
            "kubelet-client-key": str(user.key),
            # Tests read every version stored while a job lived, which may take longer than the default, 5m.
            "etcd-compaction-interval": "1h",
        }

    def _is_ready(self) -> bool:
        return get(self.url, "/readyz", self.ca.own, self.admin) == 200

    def close(self) -> None:
        """End the server and release the port."""
        self.kill()
        self._port.close()


def get(url: str, path: str, ca: Certificate, user: Certificate) -> int:
    """The status code, or 0 if nothing answers."""
    trust = ssl.create_default_context(cafile=ca.certificate)
    trust.load_cert_chain(user.certificate, user.key)
    connection = http.client.HTTPSConnection(url.removeprefix("https://"), context=trust, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()
