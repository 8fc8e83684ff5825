"""The Kubernetes programs: built from source once into a cache folder, and again only when a pin changes."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from e2e.cluster import golang, locks

KUBERNETES = Path(__file__).parent / "kubernetes"
KUBERAY = Path(__file__).parent / "kuberay"
PROGRAM = "kubernetes"
NAMES = ("etcd", "kube-apiserver", "kube-controller-manager", "kubectl")


def kubernetes_version() -> str:
    """The pinned version, as `kubectl version` says it: v1.34.4."""
    return golang.pin(KUBERNETES, "k8s.io/kubernetes")


def kuberay_folder() -> Path:
    """The source of the pinned KubeRay operator, its CRDs under `config/crd/bases`."""
    return golang.module_folder(KUBERAY, "github.com/ray-project/kuberay/ray-operator")


def programs() -> Path:
    """The folder that holds the programs by their names. The first process that asks builds; others wait for it."""
    cache = cache_folder() / "kubernetes"
    built = cache / _digest()
    with locks.locked(cache / "lock"):
        if not built.is_dir():
            _build(built)
    return built


def cache_folder() -> Path:
    return Path(os.environ.get("TRAINWRIGHT_CACHE") or Path.home() / ".cache" / "trainwright").absolute()


def _digest() -> str:
    """One name for all that the program depends on."""
    digest = hashlib.sha256(f"{golang.version(KUBERNETES)} {_flags()} {NAMES}".encode())
    for name in ("go.mod", "go.sum", "main.go"):
        digest.update((KUBERNETES / name).read_bytes())
    return digest.hexdigest()[:16]


def _build(built: Path) -> None:
    version, started = kubernetes_version(), time.monotonic()
    _say(f"building Kubernetes {version} from source into {built}; on two cores this takes some minutes, once")
    folder = Path(tempfile.mkdtemp(prefix=".building-", dir=built.parent))
    try:
        golang.go(KUBERNETES, "build", "-trimpath", "-buildvcs=false", _flags(), "-o", str(folder / PROGRAM), ".")
        for name in NAMES:
            (folder / name).symlink_to(PROGRAM)
        folder.rename(built)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _say(f"built Kubernetes {version} in {time.monotonic() - started:.0f} s")


def _flags() -> str:
    """What Kubernetes' own build stamps into its programs, so that servers and clients know their version."""
    version = kubernetes_version()
    major, minor, _ = version.removeprefix("v").split(".")
    stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    stamped = [f"-X {package}.{name}={value}" for package in packages for name, value in stamps.items()]
    return f"-ldflags=-s -w {' '.join(stamped)}"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
