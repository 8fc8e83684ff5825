"""The dashboard and the alerts of the chart, on a real Prometheus that scrapes a real operator with jobs.

Prometheus trusts the CA in the operator's Secret, as the chart's ServiceMonitor says.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator, Iterator, Set

import pytest
from testkit.api import Api, ApiError, condition, until, until_object
from testkit.api.resource import SECRETS, TRAINING_JOBS
from testkit.cluster import monitoring
from testkit.cluster.cluster import Cluster
from testkit.cluster.prometheus import Prometheus
from testkit.control_plane.installed import NAMESPACE, Installed, apply, installed, webhook
from testkit.harness import training_job
from testkit.simulators import Fail, Simulators, Succeed

pytestmark = pytest.mark.slow

NO_EVENT = {expression for expression in monitoring.queries() if "trainwright_pass_errors_total" in expression}
"""Queries about what does not happen here."""


@pytest.fixture(scope="module")
def operated(exclusive_cluster_of_module: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    with installed(exclusive_cluster_of_module, tmp_path_factory.mktemp("operator"), "clusterwide.yaml") as one:
        apply(one.cluster, webhook(one.port))
        yield one


@pytest.fixture(scope="module")
def prometheus(operated: Installed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "ca.crt").write_bytes(asyncio.run(authority(operated)))
    trust = {"ca_file": str(folder / "ca.crt"), "server_name": f"trainwright.{NAMESPACE}.svc"}
    with Prometheus(folder, [f"localhost:{operated.port}"], monitoring.rules(), trust) as found:
        yield found


def test_every_query_of_the_dashboard_finds_the_jobs_of_an_operator(
    operated: Installed, prometheus: Prometheus
) -> None:
    async def play() -> None:
        async with busy(operated):
            await until(lambda: missing(prometheus), lambda found: found <= NO_EVENT, seconds=90, what="all data")

    asyncio.run(play())
    [seconds] = prometheus.query("sum(trainwright_gpu_seconds_total)")
    assert float(seconds["value"][1]) > 0


def test_no_alert_fires_for_an_operator_in_good_health(prometheus: Prometheus) -> None:
    prometheus.wait_until(lambda: all(rule["health"] == "ok" for rule in prometheus.alerts().values()))
    assert {name for name, rule in prometheus.alerts().items() if rule["state"] == "firing"} == set()


@contextlib.asynccontextmanager
async def busy(operated: Installed) -> AsyncIterator[None]:
    """Until the end of the block, jobs of each kind succeed, fail, are retried and are refused."""
    async with operated.simulators() as (api, simulators), asyncio.TaskGroup() as group:
        work = group.create_task(_work(api, simulators))
        yield
        work.cancel()


async def _work(api: Api, simulators: Simulators) -> None:
    """Metrics are rates, so events are needed for as long as somebody looks."""
    namespace, number = await api.make_namespace("team"), 0
    while True:
        number += 1
        simulators.scripts.give(namespace, f"local-{number}", Fail(exit_code=1), Succeed())
        simulators.scripts.give(namespace, f"gpu-{number}", Succeed(after=1.5))
        jobs = [training_job(f"local-{number}"), training_job(f"gpu-{number}", "gpu")]
        for job in jobs:
            await api.create(TRAINING_JOBS, job, namespace)
        with contextlib.suppress(ApiError):
            await api.create(TRAINING_JOBS, training_job("bad", config={}), namespace)
        for job in jobs:
            await until_object(
                api, TRAINING_JOBS, job["metadata"]["name"], namespace, lambda one: condition(one, "Complete") == "True"
            )


async def missing(prometheus: Prometheus) -> Set[str]:
    return await asyncio.to_thread(monitoring.missing, prometheus)


async def authority(operated: Installed) -> bytes:
    async with Api(operated.cluster.kubeconfig) as api:
        found = await until(lambda: api.get(SECRETS, "trainwright-tls", NAMESPACE), lambda one: "ca.crt" in one["data"])
        return base64.b64decode(found["data"]["ca.crt"])
