"""The parameters with which KubeRay starts Ray on a node: the CPUs, GPUs and custom resources that it offers.

KubeRay pastes them unquoted into shell commands, so this module escapes every text of a user. They are explicit,
because KubeRay derives them wrong: it reads CPUs from limits, which are not set, and GPUs from limits by the resource's
name, which misses some MIG profiles.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping

from trainwright_operator.children import pod_resources
from trainwright_operator.children.child_spec import ChildSpec

_INERT = re.compile(r"[A-Za-z0-9_.:/-]")
"""Characters without a special meaning in a shell, in JSON and in Kubernetes' $(VARIABLE)."""


def head_params() -> dict[str, str]:
    """Return the head's parameters: Ray runs no tasks on it. Without num-gpus, it would offer GPUs that a node exposes
    to all containers."""
    return {"num-cpus": "0", "num-gpus": "0", "dashboard-host": "0.0.0.0"}


def worker_params(child_spec: ChildSpec) -> dict[str, str]:
    """Return the workers' parameters. num-cpus is a whole number, at least 1 per pod: preprocessing tasks need it."""
    if child_spec.prepares:
        return {"num-cpus": str(pod_resources.cpus(child_spec, pod_resources.of_stage(child_spec))), "num-gpus": "0"}
    params = {
        "num-cpus": str(max(1, math.ceil(child_spec.cpus_per_pod))),
        "num-gpus": str(child_spec.gpus_per_pod),
    }
    if child_spec.custom_resources_per_pod:
        params["resources"] = quoted(child_spec.custom_resources_per_pod)
    return params


def quoted(resources: Mapping[str, float]) -> str:
    """Return JSON in single quotes, as KubeRay and the shell need it. Special characters of names are escaped."""
    pairs = ", ".join(f'"{_escaped(name)}": {json.dumps(amount)}' for name, amount in resources.items())
    return f"'{{{pairs}}}'"


def _escaped(name: str) -> str:
    return "".join(character if _INERT.match(character) else _code(character) for character in name)


def _code(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
