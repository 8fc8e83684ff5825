"""A TrainingJob that posts: with a pod that exists and runs nowhere, and its tokens as a kubelet requests them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from testkit.server.running import Server
from trainwright_api.resource.environment import AUDIENCE
from trainwright_operator.controller.apply import FIELD_MANAGER
from trainwright_operator.kube.errors import ApiError
from trainwright_operator.kube.resources import PODS, TRAINING_JOBS
from trainwright_operator.model import names

SPEC = {
    "dataset": "s3://bucket/flights.parquet",
    "output": "s3://bucket/runs",
    "config": {
        "input_features": [{"name": "size", "type": "number"}],
        "output_features": [{"name": "late", "type": "binary"}],
    },
}
PROGRESS = {
    "fraction": 0.41,
    "etaSeconds": 180,
    "epoch": 2,
    "metrics": {"validation.late.roc_auc": 0.742},
    "validationMetric": {"name": "roc_auc", "value": 0.742},
    "resolved": {"batchSize": 128, "globalBatchSize": 512, "learningRateFactor": 1.0},
}


class Job:
    """A TrainingJob in its first attempt, with a pod that exists and runs nowhere."""

    def __init__(self, running: Server, namespace: str, name: str) -> None:
        self._server, self.namespace, self.name = running, namespace, name
        self.pod = f"{name}-pod"
        self.uid = ""
        self._pod_uid = ""

    async def begin(self) -> Job:
        meta = {"name": self.name, "namespace": self.namespace}
        made = {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", "metadata": meta, "spec": SPEC}
        self.uid = (await self._ask("POST", TRAINING_JOBS.path(self.namespace), made))["metadata"]["uid"]
        attempts = [{"number": 1, "child": f"{self.name}-1", "stage": "train"}]
        await self.owns_status({"attempt": 1, "attempts": attempts})
        labels = dict(names.labels(self.name, self.uid, 1))
        container = {"name": "train", "image": "none"}
        owner = {"apiVersion": TRAINING_JOBS.api_version, "kind": TRAINING_JOBS.kind, "name": self.name}
        owners = [{**owner, "uid": self.uid, "controller": True}]
        metadata = {"name": self.pod, "labels": labels, "ownerReferences": owners}
        pod = {"metadata": metadata, "spec": {"containers": [container]}}
        self._pod_uid = (await self._pod_made({"apiVersion": "v1", "kind": "Pod", **pod}))["metadata"]["uid"]
        return self

    async def owns_status(self, status: Mapping[str, Any]) -> None:
        """Write the status as the reconciler does."""
        await self._server.client.apply(
            TRAINING_JOBS,
            self.namespace,
            self.name,
            {"metadata": {"name": self.name, "namespace": self.namespace}, "status": status},
            field_manager=FIELD_MANAGER,
            subresource="status",
        )

    async def token(self, audience: str = AUDIENCE) -> str:
        """Request a token as the kubelet does: bound to the pod."""
        bound = {"kind": "Pod", "apiVersion": "v1", "name": self.pod, "uid": self._pod_uid}
        spec = {"audiences": [audience], "expirationSeconds": 600, "boundObjectRef": bound}
        path = f"/api/v1/namespaces/{self.namespace}/serviceaccounts/default/token"
        answer = await self._ask(
            "POST", path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        )
        return str(answer["status"]["token"])

    async def post(self, token: str, to: Job | None = None, via: Server | None = None, **more: Any) -> tuple[int, Any]:
        job = to or self
        report = {"uid": job.uid, "attempt": 1, "progress": PROGRESS, **more}
        path = f"/v1/namespaces/{job.namespace}/jobs/{job.name}"
        headers = {"Authorization": f"Bearer {token}"}
        async with (via or self._server).session() as session, session.post(path, json=report, headers=headers) as got:
            return got.status, await got.json()

    async def stored(self) -> dict[str, Any]:
        return await self._ask("GET", TRAINING_JOBS.path(self.namespace, self.name))

    async def status(self) -> dict[str, Any]:
        return dict((await self.stored())["status"])

    async def pod_deleted(self) -> None:
        immediately = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
        await self._ask("DELETE", PODS.path(self.namespace, self.pod), immediately)

    async def _pod_made(self, pod: Any) -> dict[str, Any]:
        """Retry, because the namespace's service account appears a moment after the namespace."""
        while True:
            try:
                return await self._ask("POST", PODS.path(self.namespace), pod)
            except ApiError as error:
                if "serviceaccount" not in error.message:
                    raise
                await asyncio.sleep(0.05)

    async def _ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        return await self._server.client.request(method, path, body=body)
