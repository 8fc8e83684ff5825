"""The programs that a node needs beside the control plane's, each pinned in a module of its own."""

from __future__ import annotations

from pathlib import Path

from testkit.cluster import binaries, golang
from testkit.cluster.program import Program

MODULES = Path(__file__).parents[1]
NODE = ("kubelet", "kube-proxy", "kube-scheduler")


def node() -> Program:
    return binaries.kubernetes("./node", "node", NODE)


def kuberay() -> Program:
    return _tool("KubeRay", "kuberay", "manager", binaries.KUBERAY_MODULE)


def helm() -> Program:
    return _tool("helm", "helm", "helm", "helm.sh/helm/v3", "/cmd/helm")


def coredns() -> Program:
    """CoreDNS with our selection of plugins."""
    folder = MODULES / "coredns"
    return Program(f"CoreDNS {golang.pin(folder, 'github.com/coredns/coredns')}", folder, ("coredns",))


def versitygw() -> Program:
    return _tool("versitygw", "versitygw", "versitygw", "github.com/versity/versitygw", "/cmd/versitygw")


def fake_gcs_server() -> Program:
    return _tool("fake-gcs-server", "fake_gcs", "fake-gcs-server", "github.com/fsouza/fake-gcs-server")


def pause() -> Program:
    """Our own program, without a version."""
    return Program("the pause container", MODULES / "pause", ("pause",))


def kuberay_version() -> str:
    return golang.pin(binaries.KUBERAY, binaries.KUBERAY_MODULE)


def build() -> None:
    for program in (node(), kuberay(), helm(), coredns(), versitygw(), fake_gcs_server(), pause()):
        program.folder()


def _tool(title: str, module: str, name: str, pinned: str, package: str = "") -> Program:
    folder = MODULES / module
    return Program(f"{title} {golang.pin(folder, pinned)}", folder, (name,), pinned + package)
