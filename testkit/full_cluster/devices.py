"""Devices that a node says it has: enough for the sizes and places of pods, and not for CUDA."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from testkit.full_cluster.full_cluster import FullCluster


@contextmanager
def given(whole: FullCluster, resources: Mapping[str, str]) -> Iterator[None]:
    """To the first node, within the block."""
    node = whole.kubectl("get", "nodes", "-o=jsonpath={.items[0].metadata.name}")
    _say(whole, node, resources)
    try:
        yield
    finally:
        _say(whole, node, dict.fromkeys(resources))


def _say(whole: FullCluster, node: str, resources: Mapping[str, str | None]) -> None:
    status = {"status": {"capacity": resources, "allocatable": resources}}
    whole.kubectl("patch", "node", node, "--subresource=status", "--type=merge", f"-p={json.dumps(status)}")
