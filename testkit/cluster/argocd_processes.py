"""Argo CD's controller, repository server and API server as processes beside a control plane, with its own roles.

`python -m testkit.cluster.argocd_processes` builds them.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from testkit.cluster import golang, kustomize
from testkit.cluster.cluster import Cluster
from testkit.cluster.errors import ClusterError
from testkit.cluster.node import programs
from testkit.cluster.port import LOOPBACK, free_port, listens
from testkit.cluster.process import Process, wait_until
from testkit.cluster.program import Program, build

ARGOCD = Path(__file__).parent / "argocd"
MODULE = "github.com/argoproj/argo-cd/v3"
NAMES = ("argocd", "argocd-application-controller", "argocd-repo-server", "argocd-server")
NAMESPACE = "argocd"
REDIS = Program("a Redis", ARGOCD, ("miniredis",), "./redis")
NOT_USED = ("Deployment", "StatefulSet", "Service", "NetworkPolicy")
"""Parts of Argo CD's manifests that run it as pods."""
IMPATIENT = {"app-resync": "4", "app-resync-jitter": "0", "self-heal-timeout-seconds": "1"}
"""It looks at Git every 4 s, not every 120 to 180 s, and heals after 1 s, not 5 s."""


def program() -> Program:
    version = golang.pin(ARGOCD, MODULE)
    stamp = f"-ldflags=-s -w -X {MODULE}/common.version={version.removeprefix('v')}"
    return Program(f"Argo CD {version}", ARGOCD, NAMES, f"{MODULE}/cmd", stamp)


class ArgoCd:
    """Runs inside its `with` block. The controller and the API server have the service accounts of its manifests."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.folder = cluster, cluster.folder / "argocd"
        self._programs = program().folder()
        self._redis, self._repository, self._server = (f"{LOOPBACK}:{free_port()}" for _ in range(3))
        self._processes: list[Process] = []

    def __enter__(self) -> ArgoCd:
        (self.folder / "tmp").mkdir(parents=True)
        try:
            self._install()
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._processes):
            process.stop()

    def check(self) -> None:
        for process in self._processes:
            process.check()

    def request(self, method: str, path: str, body: object = None, **query: str) -> Any:
        """Ask the API server of Argo CD. Raises with its message."""
        url = f"http://{self._server}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(asked, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            raise ClusterError(json.load(refused)["message"]) from None

    def _install(self) -> None:
        """Apply Argo CD's own manifests without its pods."""
        folder = golang.module_folder(ARGOCD, MODULE) / "manifests" / "cluster-install"
        every = kustomize.objects(self.cluster.kubectl, folder, NAMESPACE)
        found = [one for one in every if one["kind"] not in NOT_USED]
        self.cluster.kubectl("create", "namespace", NAMESPACE)
        kustomize.apply(self.cluster.kubectl, found)

    def _start(self) -> None:
        self._run("argocd-redis", self._redis, REDIS.path(), {}, [self._redis])
        port = self._repository.rpartition(":")[2]
        repository = {"address": LOOPBACK, "port": port, "disable-tls": "true", **self._common()}
        self._run("argocd-repo-server", self._repository, self._programs / "argocd-repo-server", repository)
        controller = {**self._common(), **self._with_account("argocd-application-controller"), **IMPATIENT}
        self._run("argocd-application-controller", "", self._programs / "argocd-application-controller", controller)
        port = self._server.rpartition(":")[2]
        server = {"address": LOOPBACK, "port": port, "insecure": "true", "disable-auth": "true"}
        server |= {**self._common(), **self._with_account("argocd-server")}
        self._run("argocd-server", self._server, self._programs / "argocd-server", server)

    def _common(self) -> Mapping[str, str]:
        return {"redis": self._redis, "metrics-port": str(free_port())}

    def _with_account(self, name: str) -> Mapping[str, str]:
        user = self.cluster.as_service_account(NAMESPACE, name)
        return {
            "kubeconfig": str(user.kubeconfig),
            "namespace": NAMESPACE,
            "repo-server": self._repository,
            "repo-server-plaintext": "true",
        }

    def _run(self, name: str, address: str, path: Path, flags: Mapping[str, str], words: Sequence[str] = ()) -> None:
        """Start it; return when it listens, if it has an address."""
        environment = {**self._environment(), "KUBECONFIG": flags.get("kubeconfig", os.devnull)}
        process = Process(path, flags, self.folder / f"{name}.log", environment, words)
        self._processes.append(process)
        if address:
            host, _, port = address.rpartition(":")
            wait_until(lambda: listens(host, int(port)), process)

    def _environment(self) -> Mapping[str, str]:
        """All files in one folder, the tests' helm, and the cluster of KUBECONFIG as the one that Argo CD runs in."""
        return {
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder / "tmp"),
            "PATH": os.pathsep.join((str(programs.helm().folder()), str(self._programs), os.environ["PATH"])),
            "ARGOCD_ASK_PASS_SOCK": str(self.folder / "ask-pass.sock"),
            "ARGOCD_FAKE_IN_CLUSTER": "true",
            "ARGOCD_GPG_ENABLED": "false",
        }


if __name__ == "__main__":
    sys.exit(build(program, lambda: REDIS))
