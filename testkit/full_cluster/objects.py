"""Objects of the cluster: read, waited for, and devices that a node reports without having them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from testkit.cluster.kubectl import Kubectl
from testkit.full_cluster.full_cluster import FullCluster

Object = Mapping[str, Any]


def one(kubectl: Kubectl, namespace: str, kind: str, name: str) -> Object:
    found: Object = json.loads(kubectl("get", f"-n={namespace}", kind, name, "-o=json"))
    return found


def several(kubectl: Kubectl, namespace: str, kind: str, labels: str = "") -> Sequence[Object]:
    found = json.loads(kubectl("get", f"-n={namespace}", kind, f"--selector={labels}", "-o=json"))
    items: Sequence[Object] = found["items"]
    return items


def condition(seen: Object, kind: str) -> Object:
    """Return the condition of this type, or an empty one."""
    return next((one for one in seen.get("status", {}).get("conditions", ()) if one["type"] == kind), {})


T = TypeVar("T")
SECONDS_BETWEEN_LOOKS = 0.5


def until(look: Callable[[], T], holds: Callable[[T], object] = bool, *, seconds: float = 60.0, what: str) -> T:
    """Poll until `holds` is true of the value, and return that value."""
    end = time.monotonic() + seconds
    while not holds(seen := look()):
        assert time.monotonic() < end, f"{what} did not come within {seconds:g} s; last seen: {seen}"
        time.sleep(SECONDS_BETWEEN_LOOKS)
    return seen


@contextmanager
def given(full_cluster: FullCluster, resources: Mapping[str, str]) -> Iterator[None]:
    """Add the devices to the first node within the block."""
    node = full_cluster.kubectl("get", "nodes", "-o=jsonpath={.items[0].metadata.name}")
    _set_capacity(full_cluster, node, resources)
    try:
        yield
    finally:
        _set_capacity(full_cluster, node, dict.fromkeys(resources))


def _set_capacity(full_cluster: FullCluster, node: str, resources: Mapping[str, str | None]) -> None:
    status = {"status": {"capacity": resources, "allocatable": resources}}
    full_cluster.kubectl("patch", "node", node, "--subresource=status", "--type=merge", f"-p={json.dumps(status)}")
