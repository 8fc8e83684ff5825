"""The programs of the control plane, and the pins of Kubernetes and KubeRay."""

from __future__ import annotations

from pathlib import Path

from testkit.cluster import golang
from testkit.cluster.program import Program

KUBERNETES = Path(__file__).parent / "kubernetes"
KUBERAY = Path(__file__).parent / "kuberay"
KUBERAY_MODULE = "github.com/ray-project/kuberay/ray-operator"
NAMES = ("etcd", "kube-apiserver", "kube-controller-manager")


def kubernetes_version() -> str:
    """The pinned version in the form of `kubectl version`: v1.34.4."""
    return golang.pin(KUBERNETES, "k8s.io/kubernetes")


def kuberay_folder() -> Path:
    """The source of the pinned KubeRay operator, its CRDs under `config/crd/bases`."""
    return golang.module_folder(KUBERAY, KUBERAY_MODULE)


def programs() -> Path:
    """The folder that holds the control plane's programs by their names."""
    return kubernetes(".", "kubernetes", NAMES).folder()


def kubectl() -> Path:
    return kubernetes("./kubectl", "kubectl").path()


def kubernetes(package: str, name: str, names: tuple[str, ...] = ()) -> Program:
    """One binary of Kubernetes with several programs, each called by its name."""
    return Program(f"Kubernetes {kubernetes_version()}", KUBERNETES, (name, *names), package, _flags())


def _flags() -> str:
    """The linker flags of Kubernetes' own build, which set the version of servers and clients."""
    version = kubernetes_version()
    major, minor, _ = version.removeprefix("v").split(".")
    stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    stamped = [f"-X {package}.{name}={value}" for package in packages for name, value in stamps.items()]
    return f"-ldflags=-s -w {' '.join(stamped)}"
