"""POST /admission: the webhook that the API server calls for a TrainingJob."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web

from trainwright_operator.server.admission import Answer, Busy
from trainwright_operator.server.metrics import Metrics

RETRY_SECONDS = 1

Judge = Callable[[bytes], Awaitable[Answer]]
"""Answers the body of a request. Raises Busy."""


class AdmissionEndpoint:
    """Hands each review to `judge`. It sends no requests: the response depends on the review and the settings."""

    def __init__(self, metrics: Metrics, judge: Judge) -> None:
        self._metrics, self._judge = metrics, judge

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.read()
        try:
            answer = await self._judge(body)
        except Busy as busy:
            self._metrics.admitted("busy")
            headers = {"Retry-After": str(RETRY_SECONDS)}
            return web.json_response({"message": str(busy)}, status=503, headers=headers)
        if answer.allowed is not None:
            self._metrics.admitted("allowed" if answer.allowed else "denied")
        return web.Response(text=answer.body, status=answer.status, content_type="application/json")
