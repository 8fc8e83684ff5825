"""Reads objects of the cluster from its API server."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from testkit.cluster.kubectl import Kubectl

Object = Mapping[str, Any]


def one(kubectl: Kubectl, namespace: str, kind: str, name: str) -> Object:
    found: Object = json.loads(kubectl("get", f"-n={namespace}", kind, name, "-o=json"))
    return found


def several(kubectl: Kubectl, namespace: str, kind: str, labels: str = "") -> Sequence[Object]:
    found = json.loads(kubectl("get", f"-n={namespace}", kind, f"--selector={labels}", "-o=json"))
    items: Sequence[Object] = found["items"]
    return items


def condition(seen: Object, kind: str) -> Object:
    """Return the objects, or an empty list."""
    return next((one for one in seen.get("status", {}).get("conditions", ()) if one["type"] == kind), {})
