"""The Prometheus metrics under /metrics. Only this module uses the Prometheus client; other modules call `Metrics`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import get_args

from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from trainwright_api.resource.status import OutcomeClass, Phase

API_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
JOB_SECONDS = (1, 5, 15, 30, 60, 120, 300, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400, 259_200, 604_800)
"""The buckets of waits and runs: from a second to a week."""
PASS_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """The metrics of one operator, in a registry of its own, so that one process can run several operators."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        self._leader = Gauge("trainwright_leader", "1 where this operator leads", registry=registry)
        self._queue = Gauge("trainwright_queue_depth", "Jobs that wait to be looked at", registry=registry)
        self._passes = Histogram(
            "trainwright_pass_seconds",
            "One look at one job, with all its writes",
            buckets=PASS_SECONDS,
            registry=registry,
        )
        self._errors = Counter("trainwright_pass_errors", "Passes that failed", ["reason"], registry=registry)
        self._jobs = Gauge("trainwright_jobs", "TrainingJobs by phase", ["phase"], registry=registry)
        self._retries = Counter(
            "trainwright_retries", "New attempts, by how the last one ended", ["class"], registry=registry
        )
        self._queued = self._histogram("trainwright_queue_seconds", "Time from an attempt's child to its running pods")
        self._started = self._histogram("trainwright_start_seconds", "Time from a new job to its first running pods")
        self._ran = self._histogram("trainwright_run_seconds", "Running time of an attempt, by how it ended", "class")
        self._gpus = Counter(
            "trainwright_gpu_seconds",
            "GPUs of ended attempts, times their time",
            ["namespace"],
            registry=registry,
        )
        self._latency = Histogram(
            "trainwright_api_seconds",
            "Time of a request to the API server, without watches",
            ["method", "resource"],
            buckets=API_SECONDS,
            registry=registry,
        )
        self._expiry = Gauge(
            "trainwright_certificate_expiry_timestamp_seconds",
            "End of the certificate that this operator serves with; 0 before it has one",
            registry=registry,
        )
        api = ["method", "resource", "status"]
        self._requests = Counter("trainwright_api_requests", "Requests to the API server", api, registry=registry)
        self._failures = Counter(
            "trainwright_api_errors",
            "Requests to the API server that failed; status 0: no answer",
            api,
            registry=registry,
        )
        self._admissions = Counter("trainwright_admissions", "Answers of the webhook", ["answer"], registry=registry)
        self._reports = Counter("trainwright_reports", "Posts of pods by HTTP status", ["status"], registry=registry)
        for phase in get_args(Phase):
            self._jobs.labels(phase)
        for outcome in get_args(OutcomeClass):
            self._retries.labels(outcome)

    def _histogram(self, name: str, text: str, *labels: str) -> Histogram:
        return Histogram(name, text, ["namespace", *labels], buckets=JOB_SECONDS, registry=self.registry)

    def certificate(self, expiry: Callable[[], datetime | None]) -> None:
        """Report the end of the certificate that `expiry` returns."""
        self._expiry.set_function(lambda: end.timestamp() if (end := expiry()) else 0.0)

    def leading(self, leads: bool) -> None:
        self._leader.set(leads)

    def queued(self, depth: int) -> None:
        self._queue.set(depth)

    def passed(self, seconds: float) -> None:
        self._passes.observe(seconds)

    def failed(self, reason: str) -> None:
        """Count a pass that ended with an error. `reason` is one of a few words, such as Conflict."""
        self._errors.labels(reason).inc()

    def jobs(self, by_phase: Mapping[str, int]) -> None:
        """Set the number of jobs in each phase. A missing phase has none."""
        for phase in get_args(Phase):
            self._jobs.labels(phase).set(by_phase.get(phase, 0))

    def retried(self, outcome: OutcomeClass) -> None:
        self._retries.labels(outcome).inc()

    def queued_for(self, namespace: str, seconds: float) -> None:
        self._queued.labels(namespace).observe(seconds)

    def started_after(self, namespace: str, seconds: float) -> None:
        self._started.labels(namespace).observe(seconds)

    def ran_for(self, namespace: str, outcome: OutcomeClass, seconds: float) -> None:
        self._ran.labels(namespace, outcome).observe(seconds)

    def used_gpus(self, namespace: str, gpu_seconds: float) -> None:
        self._gpus.labels(namespace).inc(gpu_seconds)

    def requested(self, method: str, resource: str, status: int, seconds: float = 0.0) -> None:
        """Count a request to the API server, as `Client(on_response=…)` calls it. Status 0: no response."""
        labels = (method, resource, str(status))
        self._requests.labels(*labels).inc()
        if method != "WATCH":  # a watch stays open
            self._latency.labels(method, resource).observe(seconds)
        if status == 0 or status >= 400:
            self._failures.labels(*labels).inc()

    def admitted(self, answer: str) -> None:
        """Count a review that was allowed, denied, or not validated (busy)."""
        self._admissions.labels(answer).inc()

    def reported(self, status: int) -> None:
        self._reports.labels(str(status)).inc()

    async def handle(self, _: web.Request) -> web.Response:
        """GET /metrics."""
        return web.Response(body=generate_latest(self.registry), headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})
