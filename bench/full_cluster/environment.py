"""Our own cluster with the operator, and on it a namespace, a bucket and an observer of the namespace."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from testkit.api import Api, Manifest, until
from testkit.api.resource import NAMESPACES, PODS
from testkit.full_cluster import jobs, release, restricted
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster

from bench.full_cluster import shapes
from bench.full_cluster.observer import Observer, observing
from bench.full_cluster.timeline import FIRST_STEP

SETTLE_SECONDS = 3.0
"""Wait after the last pod of a run is gone, because the kubelet and KubeRay still clean up."""


@dataclass(frozen=True)
class WarmCluster:
    full_cluster: FullCluster
    api: Api
    namespace: str
    bucket: Bucket
    eye: Observer

    async def first_step(self, made: Manifest) -> tuple[float, float]:
        """Apply the object with kubectl. Return the time before that and the time of the first step."""
        self.eye.forget()
        began = time.time()
        await asyncio.to_thread(jobs.apply, self.full_cluster.kubectl, self.namespace, made)
        return began, await self.eye.until(FIRST_STEP)

    async def clear(self, made: Manifest) -> None:
        """Delete the object; return when nothing of it is left."""
        kind, name = made["kind"], made["metadata"]["name"]
        await asyncio.to_thread(self.full_cluster.kubectl, "delete", f"-n={self.namespace}", kind, name)
        await until(self._pods, lambda pods: not pods, seconds=180.0, what="the end of all pods")
        await asyncio.sleep(SETTLE_SECONDS)

    async def _pods(self) -> list[str]:
        return [pod["metadata"]["name"] for pod in (await self.api.list(PODS, self.namespace)).items]


@asynccontextmanager
async def environment() -> AsyncIterator[WarmCluster]:
    with tempfile.TemporaryDirectory() as folder:
        full_cluster = FullCluster.find(Path(folder))
        release.install(full_cluster)
        bucket = Bucket.make(f"bench-{secrets.token_hex(4)}", full_cluster.s3)
        async with Api(full_cluster.kubectl.kubeconfig) as api:
            namespace = await api.make_namespace("bench", restricted.LABELS)
            full_cluster.kubectl("wait", f"-n={namespace}", "--for=create", "serviceaccount/default", "--timeout=60s")
            try:
                jobs.apply(full_cluster.kubectl, namespace, jobs.keys(full_cluster), shapes.config_map())
                async with observing(api, namespace) as eye:
                    yield WarmCluster(full_cluster, api, namespace, bucket, eye)
            finally:
                await api.delete(NAMESPACES, namespace)
                bucket.remove()
