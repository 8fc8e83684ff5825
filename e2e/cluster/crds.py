"""The CustomResourceDefinitions that the tests need: ours, and KubeRay's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from e2e.cluster import binaries
from e2e.cluster.kubectl import Kubectl

OURS = Path(__file__).parents[2] / "crds" / "trainwright.dev_trainingjobs.yaml"
# What the operator deals with. KubeRay's other two would cost the API server memory and start-up time for nothing.
KUBERAY = ("ray.io_rayclusters.yaml", "ray.io_rayjobs.yaml")


def files() -> Sequence[Path]:
    bases = binaries.kuberay_folder() / "config" / "crd" / "bases"
    return [OURS, *(bases / name for name in KUBERAY)]


def install(kubectl: Kubectl, definitions: Sequence[Path]) -> None:
    """Applies them on the server's side (they are too large for the client's annotation), and waits for them."""
    named = [argument for path in definitions for argument in ("-f", str(path))]
    applied = kubectl("apply", "--server-side", "--force-conflicts", "-o", "name", *named)
    kubectl("wait", "--for=condition=Established", "--timeout=60s", *applied.split())
