"""Kueue's controller manager as a pod of the node, by its own manifests. Its webhooks are behind their Service."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from testkit.cluster import kueue_manager, kustomize
from testkit.cluster.images import StaticProgram
from testkit.cluster.images.command import step
from testkit.cluster.images.layout import Layout, put_program
from testkit.cluster.kubectl import Kubectl
from testkit.cluster.kueue_manager import CONFIGURATION, NAMESPACE, VIEW
from testkit.cluster.node.cluster_folder import FIRST, ClusterFolder
from testkit.cluster.node.kuberay import RESOURCES
from testkit.cluster.node.store import ctr, load

IMAGE = "localhost/kueue"
DEPLOYMENT = "deployment/kueue-controller-manager"
CONFIG = "controller_manager_config.yaml"
DIGEST = "trainwright.dev/configuration"
SECONDS_TO_BE_READY = 240
"""A kubelet needs up to a minute to see the certificate that Kueue writes into its Secret."""


@contextmanager
def installed(kubectl: Kubectl, place: ClusterFolder) -> Iterator[None]:
    """Kueue exists within the block. All jobs in its queues must be gone at the end."""
    with step(f"Kueue {kueue_manager.version()}"):
        _load_image(place)
        _apply(kubectl, kueue_manager.manifests(kubectl, VIEW))
    try:
        yield
    finally:
        _remove(kubectl)


def configure(kubectl: Kubectl, **configuration: Any) -> None:
    """Start it again with these fields of its configuration. Return when its webhooks answer."""
    pod = [one for one in kueue_manager.manifests(kubectl, VIEW) if one["kind"] in ("ConfigMap", "Deployment")]
    _apply(kubectl, pod, **configuration)


def changed(found: Mapping[str, Any], more: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same manifest, with our image and configuration, for a node with two cores."""
    configuration = json.dumps({**CONFIGURATION, **POD, **more})
    if found["kind"] == "ConfigMap" and CONFIG in found["data"]:
        return {**found, "data": {CONFIG: configuration}}
    if found["kind"] != "Deployment":
        return found
    made = copy.deepcopy(dict(found))
    # Without leader election, two must not run at the same time.
    made["spec"]["strategy"] = {"type": "Recreate"}
    template = made["spec"]["template"]
    template["metadata"]["annotations"][DIGEST] = hashlib.sha256(configuration.encode()).hexdigest()
    [container] = template["spec"]["containers"]
    container |= {"image": image(), "imagePullPolicy": "IfNotPresent", "resources": RESOURCES}
    return made


POD: Mapping[str, Any] = {"health": {"healthProbeBindAddress": ":8081"}, "webhook": {"port": 9443}}
"""The ports that the manifests name."""


def image() -> str:
    return f"{IMAGE}:{kueue_manager.version()}"


def _load_image(place: ClusterFolder) -> None:
    layout = Layout(place.images / "kueue")
    put_program(StaticProgram(image(), kueue_manager.program().path(), "/manager"), layout)
    load(ctr(place.socket(FIRST)), [layout])


def _apply(kubectl: Kubectl, found: Iterable[Mapping[str, Any]], **configuration: Any) -> None:
    """Return when its pod is ready: then its webhooks answer."""
    kustomize.apply(kubectl, [changed(one, configuration) for one in found], "--force-conflicts")
    kubectl("rollout", "status", f"-n={NAMESPACE}", DEPLOYMENT, f"--timeout={SECONDS_TO_BE_READY}s")


def _remove(kubectl: Kubectl) -> None:
    """The queues have finalizers of the manager, so they are deleted first; its webhooks come before its pod."""
    kubectl("delete", "clusterqueues,resourceflavors,workloadpriorityclasses", "--all", "--timeout=120s")
    made = json.dumps({"apiVersion": "v1", "kind": "List", "items": [*kueue_manager.manifests(kubectl, VIEW)][::-1]})
    kubectl("delete", "--ignore-not-found", "--timeout=180s", "-f", "-", stdin=made)
