"""A node: containerd, kubelet and kube-proxy in their own namespaces, root folder, network and cgroups."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from testkit.cluster import kubectl
from testkit.cluster.certificates import CertificateAuthority
from testkit.cluster.errors import ClusterError
from testkit.cluster.kubectl import Kubectl
from testkit.cluster.node import cgroups, containerd, kubelet, network
from testkit.cluster.node.cluster_folder import API_URL, ClusterFolder, Site
from testkit.cluster.node.store import Store
from testkit.cluster.process import Process

INIT = Path(__file__).with_name("init.py")
# Where its programs find a folder of the node's own in place of the machine's.
KUBELET, CONTAINERD, LOGS = Path("/var/lib/kubelet"), Path("/var/lib/containerd"), Path("/var/log")
SECONDS_TO_BE_READY = 120
SECONDS_TO_END = 30.0
SECONDS_BETWEEN_LOOKS = 0.05


class Node:
    """A node lives as long as the process that started it, or until it is killed."""

    def __init__(self, place: ClusterFolder, site: Site, programs: Path) -> None:
        self.site, self._programs = site, programs
        self.folder = place.node(site.name)
        self.logs = place.logs / site.name
        self.socket = place.socket(site)
        self._ca = CertificateAuthority(place.running / "certificates")
        self._store = Store(place.images)
        self._process: Process | None = None

    def start(self) -> None:
        """Start the node and return at once. `kubectl wait` waits until the node is ready."""
        for folder in (self.folder / "kubelet", self.logs):
            folder.mkdir(parents=True, exist_ok=True)
        self._store.link(self.folder / "containerd")
        cgroups.make(self.site)
        network.connect(self.site)
        words = _own_namespaces(self.site, [sys.executable, "-I", str(INIT), str(self._configure())])
        self._process = Process(Path(words[0]), {}, self.logs / "init.log", words=words[1:])

    def wait_until_ready(self, kubectl: Kubectl) -> None:
        name = f"node/{self.site.name}"
        kubectl("wait", "--for=create", name, f"--timeout={SECONDS_TO_BE_READY}s")
        kubectl("wait", "--for=condition=Ready", name, f"--timeout={SECONDS_TO_BE_READY}s")

    def kill(self) -> None:
        """Kill all its processes at once, as a power failure does."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def _configure(self) -> Path:
        """Return the settings of the node's first process."""
        containerd.configure_network(self.folder, self.site)
        mounts = {self.folder / "kubelet": KUBELET, self.folder / "containerd": CONTAINERD, self.logs: LOGS}
        config = {
            "mounts": {str(own): str(seen) for own, seen in mounts.items()},
            "programs": [self._containerd(), self._kubelet(), self._kube_proxy()],
        }
        path = self.folder / "node.json"
        path.write_text(json.dumps(config, indent=2))
        return path

    def _containerd(self) -> Mapping[str, Any]:
        config = containerd.configure(self.folder, CONTAINERD, Path("/run/containerd"), self.socket)
        return self._program("containerd", ["containerd", f"--config={config}"])

    def _kubelet(self) -> Mapping[str, Any]:
        config = kubelet.configure(self.folder, self.site, self.socket, self._ca.own.certificate)
        user = self._user("kubelet", f"system:node:{self.site.name}", ["system:nodes"])
        flags = {
            "config": config,
            "kubeconfig": user,
            "hostname-override": self.site.name,
            "node-ip": self.site.address,
        }
        return self._program("kubelet", self._command("kubelet", flags), after=[self.socket])

    def _kube_proxy(self) -> Mapping[str, Any]:
        config = kubelet.configure_proxy(self.folder, self._user("kube-proxy", "system:kube-proxy"))
        flags = {"config": config, "hostname-override": self.site.name}
        return self._program("kube-proxy", self._command("kube-proxy", flags))

    def _user(self, program: str, name: str, groups: Sequence[str] = ()) -> Path:
        path = self.folder / f"{program}.kubeconfig"
        return kubectl.make(path, API_URL, self._ca.own.certificate, self._ca.user(name, groups))

    def _command(self, program: str, flags: Mapping[str, object]) -> Sequence[str]:
        return [str(self._programs / program), *(f"--{name}={value}" for name, value in flags.items())]

    def _program(self, name: str, command: Sequence[str], after: Sequence[Path] = ()) -> Mapping[str, Any]:
        return {
            "command": command,
            "log": str(self.logs / f"{name}.log"),
            "after": [str(path) for path in after],
        }


def signal(site: Site, program: str, number: int) -> None:
    """Send a signal to a program of the node, such as SIGSTOP to its kubelet. A program that ends is started again."""
    found = [pid for pid in network.processes(site) if _name(pid) == program]
    if not found:
        raise ClusterError(f"no {program} runs on {site.name}")
    for pid in found:
        os.kill(pid, number)


def remove(place: ClusterFolder, site: Site) -> None:
    """Remove the remains of a node that was killed."""
    _wait_for_end(site)
    network.disconnect(site)
    cgroups.remove(site)
    shutil.rmtree(place.node(site.name), ignore_errors=True)


def remove_mount_points() -> None:
    """Remove the mount points. Folders that other programs of the machine use are not empty and stay."""
    for folder in (KUBELET, CONTAINERD):
        try:
            folder.rmdir()
        except OSError:  # not empty, or not there
            continue


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().rstrip()
    except OSError:  # it has ended since
        return ""


def _own_namespaces(site: Site, command: Sequence[str]) -> Sequence[str]:
    namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    return [*network.inside(site), *namespaces, "--", *command]


def _wait_for_end(site: Site) -> None:
    """Kill the first process, and wait until the kernel has ended all others."""
    end = time.monotonic() + SECONDS_TO_END
    while left := {*cgroups.processes(site), *network.processes(site)}:
        if time.monotonic() > end:
            raise ClusterError(f"processes of {site.name} do not end: {', '.join(map(str, sorted(left)))}")
        time.sleep(SECONDS_BETWEEN_LOOKS)
