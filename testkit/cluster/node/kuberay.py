"""The KubeRay operator, as a pod: it must resolve the names of services."""

from __future__ import annotations

import json
import os
from pathlib import Path

from testkit.cluster import binaries
from testkit.cluster.images.command import step
from testkit.cluster.kubectl import Kubectl
from testkit.cluster.node import programs
from testkit.cluster.node.cluster_folder import ClusterFolder

IMAGE = "localhost/kuberay-operator"
NAMESPACE = "kuberay"
DEPLOYMENT = "deployment/kuberay-operator"
SECONDS_TO_BE_READY = 180
# Of two cores each request counts, and what a limit holds back comes later.
RESOURCES = {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"cpu": "2", "memory": "512Mi"}}


def install(kubectl: Kubectl, place: ClusterFolder) -> None:
    """Apply KubeRay's own manifests with our image. Existing objects stay unchanged."""
    if _is_there(kubectl):
        return
    with step(f"KubeRay {programs.kuberay_version()}"):
        kubectl("apply", "--server-side", "--force-conflicts", f"--kustomize={_kustomize(place.running / 'kuberay')}")
        kubectl("rollout", "status", f"-n={NAMESPACE}", DEPLOYMENT, f"--timeout={SECONDS_TO_BE_READY}s")


def image() -> str:
    return f"{IMAGE}:{programs.kuberay_version()}"


def _is_there(kubectl: Kubectl) -> bool:
    ready = kubectl.run("get", f"-n={NAMESPACE}", DEPLOYMENT, "-o=jsonpath={.status.readyReplicas}")
    return ready.returncode == 0 and ready.stdout == "1"


def _kustomize(folder: Path) -> Path:
    """Return the relative path, because kustomize accepts no other for a base."""
    folder.mkdir(exist_ok=True)
    base = binaries.kuberay_folder() / "config" / "default"
    container = "/spec/template/spec/containers/0"
    changes = [
        {"op": "replace", "path": f"{container}/resources", "value": RESOURCES},
        {"op": "replace", "path": f"{container}/readinessProbe/initialDelaySeconds", "value": 1},
    ]
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "namespace": NAMESPACE,
        "resources": [os.path.relpath(base, folder.resolve()), "namespace.json"],
        "images": [{"name": "quay.io/kuberay/operator", "newName": IMAGE, "newTag": programs.kuberay_version()}],
        "patches": [{"target": {"kind": "Deployment"}, "patch": json.dumps(changes)}],
    }
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    (folder / "namespace.json").write_text(json.dumps(namespace))
    (folder / "kustomization.yaml").write_text(json.dumps(kustomization))
    return folder
