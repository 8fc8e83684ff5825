"""The API server accepts every status that the operator's model can hold, and the operator resets any other."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from testkit.api import Api, Manifest, condition, until
from testkit.api.resource import EVENTS, NAMESPACES, TRAINING_JOBS
from testkit.cluster.cluster import Cluster
from testkit.contract import answers, jobs
from testkit.contract.answers import Admission
from testkit.contract.values import Maker
from testkit.harness import FAST, Operators, training_job
from testkit.harness.lifecycle import NAME
from testkit.harness.lifecycles import does
from testkit.simulators import Scripts, Simulators, Succeed

from trainwright_api.resource.status import TrainingJobStatus
from trainwright_operator.informer.trim import read_status

SECONDS = 60.0
ODD_TIMES = ("0000-01-01T00:00:00Z", "2026-02-30T12:00:00Z")
"""Strings with the form of a time that are no valid time."""


def statuses(seed: int, count: int) -> Iterator[Any]:
    """Random statuses as the operator writes them."""
    rng = random.Random(seed)
    for _ in range(count):
        made = Maker(rng, rng.choice([0.2, 0.6, 0.95])).section(TrainingJobStatus)
        yield as_written(TrainingJobStatus.model_validate(json.loads(json.dumps(made))))


def as_written(status: TrainingJobStatus) -> Any:
    return status.model_dump(mode="json", by_alias=True, exclude_none=True)


@pytest.fixture
def job(cluster: Cluster, namespace: str) -> Any:
    made = json.dumps(jobs.plain())
    return json.loads(cluster.kubectl("create", "-f=-", f"-n={namespace}", "-o=json", stdin=made))


def put(cluster: Cluster, job: Any, made: Sequence[Any]) -> list[Admission]:
    metadata = job["metadata"]
    whole = [{**job, "status": status} for status in made]
    return asyncio.run(answers.written(cluster.kubeconfig, metadata["namespace"], metadata["name"], whole))


def test_every_status_that_the_model_can_hold_is_taken_and_read_again(cluster: Cluster, job: Any) -> None:
    made = list(statuses(seed=1, count=300))
    for status, answer in zip(made, put(cluster, job, made), strict=True):
        assert answer.refusal == "", json.dumps(status)[:2000]
        assert as_written(read_status(answer.stored.get("status"))) == status


@pytest.mark.parametrize("time", ODD_TIMES)
def test_a_status_that_cannot_be_read_is_reset_with_one_event(cluster: Cluster, time: str) -> None:
    """While its only attempt runs: the attempt goes on, and the job ends as it would have."""
    asyncio.run(_reset(cluster, time))


async def _reset(cluster: Cluster, time: str) -> None:
    async with Api(cluster.kubeconfig) as api:
        namespace = await api.make_namespace("reset")
        settings = replace(FAST, namespaces=(namespace,))
        scripts = Scripts()
        scripts.give(namespace, NAME, Succeed(after=2.0))
        async with Simulators(api, namespace, scripts), Operators(cluster.kubeconfig, settings):
            await api.create(TRAINING_JOBS, training_job(NAME, "local"), namespace)

            async def job() -> Manifest:
                return await api.get(TRAINING_JOBS, NAME, namespace)

            await until(job, does("Running"), seconds=SECONDS, what="an attempt that runs")
            await api.patch_status(TRAINING_JOBS, NAME, namespace, {"startTime": time})
            ended = await until(job, lambda found: condition(found, "Complete") == "True", seconds=SECONDS, what="end")
            events = [one["reason"] for one in (await api.list(EVENTS, namespace)).items]
        await api.delete(NAMESPACES, namespace)
    assert [one["number"] for one in ended["status"]["attempts"]] == [1]
    assert events.count("StatusReset") == 1


@pytest.mark.parametrize("form", ["2026-05-01t12:00:00z", "2026-05-01", "now", ["2026-05-01T12:00:00Z"], 5, ""])
def test_what_has_not_the_form_of_a_time_is_refused(cluster: Cluster, job: Any, form: Any) -> None:
    """Includes a list, which OpenAPI's own date-time format accepts: rules about the start would fail on it."""
    [answer] = put(cluster, job, [{"startTime": form}])
    assert "status.startTime" in answer.refusal
