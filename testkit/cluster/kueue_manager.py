"""Kueue's controller manager beside a control plane, with its own definitions, roles and webhooks.

`python -m testkit.cluster.kueue_manager` builds it.
"""

from __future__ import annotations

import base64
import http.client
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from testkit.cluster import golang, kustomize
from testkit.cluster.cluster import Cluster
from testkit.cluster.kubectl import Kubectl
from testkit.cluster.port import LOOPBACK, free_port
from testkit.cluster.process import Process, wait_until
from testkit.cluster.program import Program, build

KUEUE = Path(__file__).parent / "kueue"
MODULE = "sigs.k8s.io/kueue"
NAMESPACE = "kueue-system"
ACCOUNT = "kueue-controller-manager"
SECRET = "kueue-webhook-server-cert"
VIEW = "APIService"
"""The kind of the manifest that serves a view of the queues. No test uses it."""
NOT_USED = ("Deployment", "ConfigMap", VIEW)
CONFIGURATION: Mapping[str, Any] = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "namespace": NAMESPACE,
    "metrics": {"bindAddress": "0"},
    "leaderElection": {"leaderElect": False},
    "integrations": {"frameworks": ("batch/job", "ray.io/rayjob", "ray.io/raycluster")},
    "featureGates": {"VisibilityOnDemand": False},
}
"""For one process that handles the children of TrainingJobs."""


def program() -> Program:
    stamp = f"-ldflags=-s -w -X {MODULE}/pkg/version.GitVersion={version()}"
    return Program(f"Kueue {version()}", KUEUE, ("kueue",), f"{MODULE}/cmd/kueue", stamp)


def version() -> str:
    return golang.pin(KUEUE, MODULE)


def manifests(kubectl: Kubectl, *not_used: str) -> Iterator[Mapping[str, Any]]:
    """Kueue's own manifests except for these kinds."""
    folder = golang.module_folder(KUEUE, MODULE) / "config" / "default"
    return (one for one in kustomize.objects(kubectl, folder) if one["kind"] not in not_used)


class KueueManager:
    """Runs inside its `with` block, under its own service account."""

    def __init__(self, cluster: Cluster) -> None:
        self._program, self.cluster = program().path(), cluster
        self.folder = cluster.folder / "kueue"
        self._certificates = self.folder / "certificates"
        self._webhook, self._health = free_port(), free_port()
        self._process: Process | None = None

    def __enter__(self) -> KueueManager:
        self._install()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, **configuration: Any) -> None:
        """Start it with further fields of its configuration; return when its webhooks answer."""
        path = self.folder / "configuration.json"
        path.write_text(json.dumps({**self._configuration(), **configuration}))
        user = self.cluster.as_service_account(NAMESPACE, ACCOUNT)
        flags = {"config": str(path), "kubeconfig": str(user.kubeconfig), "zap-log-level": "info"}
        self._process = Process(self._program, flags, self.folder / "kueue.log")
        wait_until(self._is_ready, self._process)

    def stop(self) -> None:
        if self._process is not None:
            self._process.stop()
            self._process = None

    def _install(self) -> None:
        """Apply Kueue's own manifests. The service of its webhooks leads to this machine."""
        self._certificates.mkdir(parents=True)
        found = [reached_at(self._webhook, one) for one in manifests(self.cluster.kubectl, *NOT_USED)]
        kustomize.apply(self.cluster.kubectl, found, "--force-conflicts")

    def _configuration(self) -> Mapping[str, Any]:
        return {
            **CONFIGURATION,
            "health": {"healthProbeBindAddress": f"{LOOPBACK}:{self._health}"},
            "webhook": {"host": LOOPBACK, "port": self._webhook, "certDir": str(self._certificates)},
        }

    def _is_ready(self) -> bool:
        self._mount()
        connection = http.client.HTTPConnection(LOOPBACK, self._health, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def _mount(self) -> None:
        """Write the certificate that Kueue makes for itself to its folder, as a kubelet mounts the Secret."""
        if (self._certificates / "tls.crt").exists():
            return
        data = json.loads(self.cluster.kubectl("get", "secret", f"-n={NAMESPACE}", SECRET, "-o=json")).get("data", {})
        for name in sorted(data, reverse=True):  # the key before the certificate
            (self._certificates / name).write_bytes(base64.b64decode(data[name]))


def reached_at(port: int, found: Any) -> Any:
    """The same manifest, for webhooks that listen on a port of this machine."""
    if isinstance(found, list):
        return [reached_at(port, one) for one in found]
    if not isinstance(found, Mapping):
        return found
    if found.get("kind") == "Service":
        return {**found, "spec": {"type": "ExternalName", "externalName": "localhost"}}
    if "service" in found.get("clientConfig", ()):
        service = {**found["clientConfig"]["service"], "port": port}
        return {**found, "clientConfig": {**found["clientConfig"], "service": service}}
    return {key: reached_at(port, value) for key, value in found.items()}


if __name__ == "__main__":
    sys.exit(build(program))
