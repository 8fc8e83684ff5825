"""POST /v1/namespaces/NAMESPACE/jobs/NAME: a pod's report, sent with the pod's token. The response is a `Reply`.

The only state in memory are reviews of tokens and pods, for a minute, and the owners of pods. So every operator pod can
answer from the API alone.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from http import HTTPStatus
from typing import Any

from aiohttp import web

from trainwright_api.resource.messages import BODY_BYTES, Reply, Report, encoded
from trainwright_operator.children import read_pod
from trainwright_operator.informer.owners import Owners
from trainwright_operator.kube.client import Client
from trainwright_operator.kube.errors import ApiError
from trainwright_operator.kube.resources import PODS, TRAINING_JOBS
from trainwright_operator.model.observed import Pod
from trainwright_operator.server.decisions import decide, of_stage
from trainwright_operator.server.expiring_cache import ExpiringCache
from trainwright_operator.server.metrics import Metrics
from trainwright_operator.server.pod_identity import PodIdentity, Reviews
from trainwright_operator.server.reports import read_report

PATH = "/v1/namespaces/{namespace}/jobs/{name}"
FIELD_OWNER = "trainwright-progress"
TRIES = 10
"""The number of tries to write an outcome while others write the status."""
MAX_TOKEN_LENGTH = 16 * 1024
MAX_POSTS = 64
"""The maximum of posts that are handled at the same time. Further pods are asked to post again later."""
RETRY_SECONDS = (5, 15)
"""The range of the seconds after which they may."""
POD_SECONDS = 60.0
"""The seconds for which a pod is remembered."""

log = logging.getLogger(__name__)


class RejectedReport(Exception):
    """A rejected report: an HTTP status and a message of one line."""

    def __init__(self, status: HTTPStatus, line: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(line)
        self.status, self.line, self.headers = status, line, headers


class ProgressEndpoint:
    """Receives reports and writes them into the status of their jobs."""

    def __init__(
        self,
        api: Client,
        reviews: Reviews,
        metrics: Metrics,
        *,
        interval: float,
        now: Callable[[], datetime],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._api, self._reviews, self._metrics = api, reviews, metrics
        self._interval, self._now, self._sleep = interval, now, sleep
        self._open = 0
        self._pods: ExpiringCache[PodIdentity, Pod] = ExpiringCache(lambda: now().timestamp(), POD_SECONDS)
        self._owners = Owners(api.find)

    async def handle(self, request: web.Request) -> web.Response:
        try:
            async with self._slot():
                reply = await self._reply(request)
            response = web.Response(text=encoded(reply), content_type="application/json")
        except RejectedReport as rejected:
            body = {"message": rejected.line}
            response = web.json_response(body, status=rejected.status, headers=rejected.headers)
        self._metrics.reported(response.status)
        return response

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        """Count the post among those that are handled now. Raises RejectedReport if they are too many."""
        if self._open >= MAX_POSTS:
            headers = {"Retry-After": str(random.randint(*RETRY_SECONDS))}
            raise RejectedReport(HTTPStatus.SERVICE_UNAVAILABLE, "too many pods post at this moment", headers)
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1

    async def _reply(self, request: web.Request) -> Reply:
        namespace, name = request.match_info["namespace"], request.match_info["name"]
        try:
            identity = await self._identity(request, namespace)
            report = await _report(request)
            pod = await self._pod(identity)
            return await self._apply(namespace, name, pod, report)
        except ApiError as error:
            log.warning("a report for %s/%s could not be applied: %s", namespace, name, error)
            raise RejectedReport(
                HTTPStatus.SERVICE_UNAVAILABLE, "the API server does not answer as it should: try again later"
            ) from None

    async def _identity(self, request: web.Request, namespace: str) -> PodIdentity:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        identity = None
        if scheme.lower() == "bearer" and 0 < len(token) <= MAX_TOKEN_LENGTH:
            identity = await self._reviews.identity(token.strip())
        if identity is None:
            line = "expected the token of a pod, made for the audience trainwright"
            raise RejectedReport(HTTPStatus.UNAUTHORIZED, line, {"WWW-Authenticate": "Bearer"})
        if identity.namespace != namespace:
            raise RejectedReport(HTTPStatus.FORBIDDEN, f"the pod is of namespace {identity.namespace}, not {namespace}")
        return identity

    async def _pod(self, identity: PodIdentity) -> Pod:
        """Return the pod, if its owners lead to the job that its label names."""
        known = self._pods.get(identity)
        if known is not None:
            return known
        raw = await self._api.find(PODS, identity.namespace, identity.pod)
        if raw is None or raw["metadata"]["uid"] != identity.pod_uid:
            raise RejectedReport(HTTPStatus.FORBIDDEN, f"the pod {identity.pod} is gone")
        pod = read_pod(raw)
        if pod is None or await self._owners.follow(pod) != "whole":
            raise RejectedReport(HTTPStatus.FORBIDDEN, f"the pod {identity.pod} belongs to no TrainingJob")
        self._pods.put(identity, pod)
        return pod

    async def _apply(self, namespace: str, name: str, pod: Pod, report: Report) -> Reply:
        """Read the job, decide and write. On a conflict with another writer, start again if there is an outcome."""
        for count in range(TRIES):
            job = await self._api.find(TRAINING_JOBS, namespace, name)
            if job is None:
                raise RejectedReport(HTTPStatus.NOT_FOUND, f"there is no TrainingJob {namespace}/{name}")
            _check(job, pod, report)
            decision = decide(job, of_stage(report, pod.stage), self._now(), self._interval)
            if decision.status is None or await self._write(job, decision.status):
                return decision.reply
            if report.outcome is None:
                # The next report comes soon.
                return decision.reply
            await self._sleep(random.uniform(0, 0.05) * (count + 1))
        raise RejectedReport(HTTPStatus.CONFLICT, "the job's status changes all the time: try again later")

    async def _write(self, job: Mapping[str, Any], status: Mapping[str, Any]) -> bool:
        """Write the status. Return False if the job has changed or is gone since it was read."""
        metadata = {key: job["metadata"][key] for key in ("name", "namespace", "uid", "resourceVersion")}
        body = {"metadata": metadata, "status": status}
        try:
            await self._api.apply(
                TRAINING_JOBS,
                metadata["namespace"],
                metadata["name"],
                body,
                field_manager=FIELD_OWNER,
                subresource="status",
            )
        except ApiError as error:
            if error.status in (HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND):
                return False
            raise
        return True


def _check(job: Mapping[str, Any], pod: Pod, report: Report) -> None:
    uid = job["metadata"]["uid"]
    if pod.job_uid != uid:
        raise RejectedReport(HTTPStatus.FORBIDDEN, f"the pod {pod.name} does not belong to this job")
    if report.uid != uid:
        raise RejectedReport(HTTPStatus.CONFLICT, f"uid: the report is about {report.uid}, the job has the uid {uid}")


async def _report(request: web.Request) -> Report:
    body = bytearray()
    async for chunk in request.content.iter_any():
        body += chunk
        if len(body) > BODY_BYTES:
            raise RejectedReport(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a report has at most {BODY_BYTES // 1024} KiB")
    try:
        return read_report(bytes(body))
    except ValueError as error:
        raise RejectedReport(HTTPStatus.BAD_REQUEST, f"no report: {error}") from None
