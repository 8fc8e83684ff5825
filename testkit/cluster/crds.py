"""The CustomResourceDefinitions that the tests need: ours and KubeRay's."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from testkit.cluster import binaries
from testkit.cluster.errors import ClusterError
from testkit.cluster.kubectl import Kubectl

OURS = Path(__file__).parents[2] / "crds" / "trainwright.dev_trainingjobs.yaml"
# Only the kinds that the operator uses. KubeRay's other two would cost the API server memory and start-up time.
KUBERAY = ("ray.io_rayclusters.yaml", "ray.io_rayjobs.yaml")
SECONDS_TO_ESTABLISH = 60.0
SECONDS_BETWEEN_LOOKS = 0.1


def files() -> Sequence[Path]:
    bases = binaries.kuberay_folder() / "config" / "crd" / "bases"
    return [OURS, *(bases / name for name in KUBERAY)]


def install(kubectl: Kubectl, definitions: Sequence[Path]) -> None:
    """Apply them server-side (they are too large for the client's annotation), and wait for them."""
    named = [argument for path in definitions for argument in ("-f", str(path))]
    applied = kubectl("apply", "--server-side", "--force-conflicts", "-o", "name", *named)
    wait_for(kubectl, {name.rpartition("/")[2] for name in applied.split()})


def wait_for(kubectl: Kubectl, wanted: Set[str]) -> None:
    """Return when the definitions of these names are served."""
    end = time.monotonic() + SECONDS_TO_ESTABLISH
    # Definitions are served once they are established. To read their conditions costs the server seconds, because
    # KubeRay's are megabytes. `kubectl wait` fails while they have no conditions yet.
    while missing := wanted - set(kubectl("api-resources", "-o", "name").split()):
        if time.monotonic() > end:
            raise ClusterError(f"not established after {SECONDS_TO_ESTABLISH:.0f} s: {', '.join(sorted(missing))}")
        time.sleep(SECONDS_BETWEEN_LOOKS)


def without_schema(group: str, version: str, kind: str, plural: str, *, scope: str) -> Mapping[str, Any]:
    """The definition of a kind of somebody else, whose objects may have any fields."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": kind, "plural": plural}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "names": names, "scope": scope, "versions": [served]},
    }
