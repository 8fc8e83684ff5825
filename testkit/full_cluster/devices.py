"""Devices that a node reports without having them. This is enough for scheduling, and not for CUDA."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from testkit.full_cluster.full_cluster import FullCluster


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
