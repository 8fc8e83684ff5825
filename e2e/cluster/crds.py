"""The CustomResourceDefinitions that the tests need: ours, and KubeRay's."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from e2e.cluster import binaries
from e2e.cluster.errors import ClusterError
from e2e.cluster.kubectl import Kubectl

OURS = Path(__file__).parents[2] / "crds" / "trainwright.dev_trainingjobs.yaml"
# What the operator deals with. KubeRay's other two would cost the API server memory and start-up time for nothing.
KUBERAY = ("ray.io_rayclusters.yaml", "ray.io_rayjobs.yaml")
SECONDS_TO_ESTABLISH = 60.0
SECONDS_BETWEEN_LOOKS = 0.1


def files() -> Sequence[Path]:
    bases = binaries.kuberay_folder() / "config" / "crd" / "bases"
    return [OURS, *(bases / name for name in KUBERAY)]


def install(kubectl: Kubectl, definitions: Sequence[Path]) -> None:
    """Applies them on the server's side (they are too large for the client's annotation), and waits for them."""
    named = [argument for path in definitions for argument in ("-f", str(path))]
    applied = kubectl("apply", "--server-side", "--force-conflicts", "-o", "name", *named).split()
    end = time.monotonic() + SECONDS_TO_ESTABLISH
    while not all(map(_is_established, _statuses(kubectl, applied))):
        if time.monotonic() > end:
            raise ClusterError(f"not all are established after {SECONDS_TO_ESTABLISH:.0f} s: {', '.join(applied)}")
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _statuses(kubectl: Kubectl, names: Sequence[str]) -> Sequence[Mapping[str, Any]]:
    """`kubectl wait` gives up on a definition so young that it has no conditions yet, so we look ourselves."""
    found = kubectl("get", *names, "-o", 'jsonpath={range .items[*]}{.status}{"\\n"}{end}')
    return [json.loads(line) for line in found.splitlines()]


def _is_established(status: Mapping[str, Any]) -> bool:
    conditions = status.get("conditions") or ()
    return any(condition["type"] == "Established" and condition["status"] == "True" for condition in conditions)
