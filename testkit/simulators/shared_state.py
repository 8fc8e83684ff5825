"""The state that all simulators share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from testkit.api import Api
from testkit.api.resource import JOBS, NODES, PODS, RAY_CLUSTERS, RAY_JOBS, TRAINING_JOBS
from testkit.simulators.mirror import Mirror
from testkit.simulators.nodes import Nodes
from testkit.simulators.posts import Posts
from testkit.simulators.record import Record
from testkit.simulators.scripts import Scripts


@dataclass(frozen=True)
class SharedState:
    api: Api
    scripts: Scripts
    training_jobs: Mirror
    jobs: Mirror
    ray_jobs: Mirror
    ray_clusters: Mirror
    pods: Mirror
    nodes: Nodes
    posts: Posts
    record: Record

    @classmethod
    def of(cls, api: Api, namespace: str | None, scripts: Scripts, posts: Callable[[Api], Posts] = Posts) -> Self:
        seen = [Mirror(api, resource, namespace) for resource in (TRAINING_JOBS, JOBS, RAY_JOBS, RAY_CLUSTERS, PODS)]
        training_jobs, jobs, ray_jobs, ray_clusters, pods = seen
        record = Record()
        record.listen((jobs, ray_jobs), pods)
        nodes = Nodes(api, Mirror(api, NODES, None), pods, prefix=f"{namespace}-" if namespace else "")
        return cls(api, scripts, training_jobs, jobs, ray_jobs, ray_clusters, pods, nodes, posts(api), record)

    @property
    def mirrors(self) -> Sequence[Mirror]:
        return (self.training_jobs, self.nodes.mirror, self.pods, self.ray_clusters, self.jobs, self.ray_jobs)
