"""What `ray start` is told of a node's resources. Said outright, for KubeRay derives them badly.

It reads CPUs from limits, of which there are none, and GPUs from limits by the resource's name, which misses some MIG
profiles. It pastes the values unquoted into a shell command, so every text of a user is escaped here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping

from trainwright_operator.children.child_spec import ChildSpec

_INERT = re.compile(r"[A-Za-z0-9_.:/-]")
"""Characters that mean nothing to a shell, to JSON, or to Kubernetes' $(VARIABLE)."""


def of_the_head() -> dict[str, str]:
    """It schedules and trains nothing. Without the second, it would offer the GPUs of a node that shows them to all."""
    return {"num-cpus": "0", "num-gpus": "0", "dashboard-host": "0.0.0.0"}


def of_workers(child_spec: ChildSpec) -> dict[str, str]:
    """CPUs are whole in Ray, and at least one a pod: tasks that preprocess need it."""
    params = {
        "num-cpus": str(max(1, math.ceil(child_spec.cpus_per_pod))),
        "num-gpus": str(child_spec.gpus_per_pod),
    }
    if child_spec.custom_resources_per_pod:
        params["resources"] = quoted(child_spec.custom_resources_per_pod)
    return params


def quoted(resources: Mapping[str, float]) -> str:
    """JSON in single quotes, as KubeRay and the shell want it, with every other character of a name escaped."""
    pairs = ", ".join(f'"{_escaped(name)}": {json.dumps(amount)}' for name, amount in resources.items())
    return f"'{{{pairs}}}'"


def _escaped(name: str) -> str:
    return "".join(character if _INERT.match(character) else _code(character) for character in name)


def _code(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
