"""The state that all simulators share, and the trainers' reports, written as the operator's endpoint writes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from testkit.api import Api, ApiError, Manifest
from testkit.api.resource import JOBS, NODES, PODS, RAY_CLUSTERS, RAY_JOBS, TRAINING_JOBS, now
from testkit.simulators.children import origin
from testkit.simulators.mirror import Mirror
from testkit.simulators.nodes import Nodes
from testkit.simulators.record import Record
from testkit.simulators.scripts import Scripts
from trainwright_api.resource.messages import OutcomeMessage
from trainwright_operator.model import names

MANAGER = "trainwright-progress"


class Posts:
    def __init__(self, api: Api) -> None:
        self._api = api
        self._posted: dict[str, Manifest] = {}

    async def outcome(self, pod: Manifest, outcome: OutcomeMessage) -> None:
        posted = outcome.model_dump(mode="json", by_alias=True, exclude_none=True)
        words = {"outcome": posted.pop("class"), "message": posted.pop("line"), "postTime": now()}
        await self._post(pod, "outcome", {**posted, **words})

    async def progress(self, pod: Manifest, **progress: Any) -> None:
        """Post progress with the status' fields: summary, fraction, epoch, metrics …"""
        await self._post(pod, "progress", {"updateTime": now(), **progress})

    async def _post(self, pod: Manifest, section: str, posted: Manifest) -> None:
        """Skips a job that is gone or was replaced by one of the same name, and a pod without labels."""
        labels, namespace = pod["metadata"].get("labels", {}), pod["metadata"]["namespace"]
        uid, name = labels.get(names.JOB_UID), labels.get(names.JOB_NAME)
        if not (uid and name):
            return
        status = self._posted.setdefault(uid, {})
        status[section] = {"attempt": origin(pod).attempt, **posted}
        job = {"metadata": {"name": name, "uid": uid}, "status": status}
        try:
            await self._api.apply(TRAINING_JOBS, job, MANAGER, namespace, "status")
        except ApiError as error:
            if error.code not in (404, 409):
                raise


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
