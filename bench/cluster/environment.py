"""A new control plane for one measurement, with nodes that could hold every job and a user for each program."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from testkit.api import Api, until
from testkit.api.resource import NAMESPACES, NODES, PODS, RAY_JOBS, TRAINING_JOBS
from testkit.cluster.cluster import Cluster
from testkit.cluster.control_plane import ControlPlane
from testkit.simulators.mirror import Mirror
from testkit.simulators.nodes import Nodes

NAMESPACE = "bench"
OPERATORS_OWN = "trainwright"
"""The namespace of the operator's Lease and certificates."""
AT_ONCE = 64
"""The most requests of the benchmark itself that are in flight at a time."""
NODE_COUNT = 4

Requests = Counter[tuple[str, str]]
"""Counts by verb and resource, as in ("patch", "trainingjobs/status")."""


@dataclass(frozen=True)
class Environment:
    cluster: Cluster
    api: Api
    """The benchmark's own client."""

    @property
    def folder(self) -> Path:
        return self.cluster.folder

    def as_user(self, name: str) -> Path:
        """The kubeconfig of an administrator of this name; `requests` counts its requests apart from all others."""
        return self.cluster.as_user(name, ["system:masters"]).kubeconfig

    def requests(self, user: str) -> Requests:
        """The requests of this user that the API server has answered so far. A watch counts once, when it starts."""
        return Counter(
            (event.verb, "/".join(filter(None, (event.resource, event.subresource))))
            for event in self.cluster.audit_events()
            if event.user == user and (event.stage == "ResponseStarted") == (event.verb == "watch")
        )


@asynccontextmanager
async def environment() -> AsyncIterator[Environment]:
    with ControlPlane() as plane:
        cluster = Cluster.of(plane)
        async with Api(cluster.kubeconfig, AT_ONCE) as api:
            for resource in (TRAINING_JOBS, RAY_JOBS, NODES):
                # A server that has just started refuses to list resources that it has not loaded yet.
                await until(partial(api.list, resource), bool, seconds=60.0, what=f"a list of {resource.plural}")
            for name in (NAMESPACE, OPERATORS_OWN):
                await api.create(NAMESPACES, {"metadata": {"name": name}})
            nodes = Nodes(api, Mirror(api, NODES, None), Mirror(api, PODS, None), prefix="")
            for number in range(NODE_COUNT):
                await nodes.add(f"node-{number}")
            yield Environment(cluster, api)
