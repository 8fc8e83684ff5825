"""A key of a started job that no schema declares is renamed: the API server accepts the change."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from testkit.api import Api, ApiError, Manifest, until_object
from testkit.api.resource import JOBS, RAY_JOBS, TRAINING_JOBS
from testkit.cluster.cluster import Cluster
from testkit.harness import FAST, Operators, training_job
from testkit.simulators import Fail, Script, Scripts, Simulators, Succeed

NAME = "flights"
SAMPLED = {"sample_ratio": 0.5}
FUNCTION = {
    "kind": "ray",
    "config": None,
    "dataset": None,
    "entrypoint": {"module": "my.train", "function": "main", "config": {"rate": 1}},
    "image": "trainwright:later",
}
OTHER_RATE = {"entrypoint": {"config": {"rate": None, "rates": 1}}}
FIRST_RATE = {"entrypoint": {"config": {"rate": 1, "rates": None}}}
"""The arguments of a function have keys that no schema declares: they are renamed, and back."""


def config() -> Manifest:
    inputs = [{"name": "distance", "type": "number"}]
    return {"input_features": inputs, "output_features": [{"name": "late", "type": "binary"}], "preprocessing": SAMPLED}


class Setup:
    def __init__(self, api: Api, namespace: str) -> None:
        self.api, self.namespace = api, namespace

    async def starts(self, **spec: Any) -> None:
        await self.api.create(TRAINING_JOBS, training_job(NAME, **{"config": config(), **spec}), self.namespace)
        await self.sees(lambda job: job.get("status", {}).get("phase") == "Running", "a job that runs")

    async def change(self, spec: Manifest) -> None:
        await self.api.patch(TRAINING_JOBS, NAME, self.namespace, {"spec": spec})

    async def sees(self, holds: Any, what: str) -> Manifest:
        return await until_object(self.api, TRAINING_JOBS, NAME, self.namespace, holds, seconds=60, what=what)

    async def children(self) -> list[str]:
        kinds = [await self.api.list(kind, self.namespace) for kind in (JOBS, RAY_JOBS)]
        return [child["metadata"]["uid"] for found in kinds for child in found.items]


def accepted(status: str, reason: str, word: str = "") -> Any:
    def holds(job: Manifest) -> bool:
        entries = [one for one in job["status"]["conditions"] if one["type"] == "Accepted"]
        found = [(one["status"], one["reason"]) == (status, reason) and word in one["message"] for one in entries]
        seen = job["status"].get("observedGeneration") == job["metadata"]["generation"]
        return seen and found == [True]

    return holds


def played(cluster: Cluster, namespace: str, scenario: Any, *scripts: Script) -> None:
    async def whole() -> None:
        given = Scripts()
        given.give(namespace, NAME, *scripts)
        settings = replace(FAST, namespaces=(namespace,))
        async with (
            Api(cluster.kubeconfig) as api,
            Simulators(api, namespace, given),
            Operators(cluster.kubeconfig, settings),
        ):
            await scenario(Setup(api, namespace))

    asyncio.run(whole())


def test_what_was_started_goes_on_and_the_change_is_reported_until_it_is_undone(
    cluster: Cluster, namespace: str
) -> None:
    async def scenario(setup: Setup) -> None:
        await setup.starts(**FUNCTION)
        before = await setup.children()
        await setup.change(OTHER_RATE)
        job = await setup.sees(accepted("False", "ChangedAfterStart", "goes on unchanged"), "a word about the change")
        assert job["status"]["phase"] == "Running"
        assert await setup.children() == before
        await setup.change(FIRST_RATE)
        await setup.sees(accepted("True", "Accepted"), "a job that is accepted again")
        assert await setup.children() == before
        await setup.sees(lambda job: job["status"]["phase"] == "Complete", "the end")
        assert (await setup.sees(bool, "the job"))["status"]["attempt"] == 1

    played(cluster, namespace, scenario, Succeed(after=4.0))


def test_no_further_attempt_starts_from_what_was_changed(cluster: Cluster, namespace: str) -> None:
    async def scenario(setup: Setup) -> None:
        await setup.starts(**FUNCTION)
        await setup.change(OTHER_RATE)
        job = await setup.sees(accepted("False", "ChangedAfterStart"), "a word about the change")
        stalled = {"type": "Stalled", "status": "True", "reason": "ChangedAfterStart"}
        await setup.sees(
            lambda job: any(stalled.items() <= one.items() for one in job["status"]["conditions"]), "a stop"
        )
        assert job["status"]["attempt"] == 1
        await setup.change(FIRST_RATE)
        job = await setup.sees(lambda job: job["status"]["phase"] == "Complete", "the end")
        assert job["status"]["attempt"] == 2

    played(cluster, namespace, scenario, Fail(after=1.0), Succeed())


@pytest.mark.parametrize(
    "change",
    [
        {"preprocessing": {"sample_ratio": 0.4}},
        {"preprocessing": None},
        {"more": 1},
        {"preprocessing": None, "preprocesing": SAMPLED},
    ],
)
def test_change_of_what_the_schema_declares_is_refused_by_the_api_server(
    cluster: Cluster, namespace: str, change: dict[str, Any]
) -> None:
    """The other tests in this file cover the changes that the API server accepts."""

    async def scenario(setup: Setup) -> None:
        await setup.starts()
        with pytest.raises(ApiError, match="config is fixed once the job has started"):
            await setup.change({"config": change})

    played(cluster, namespace, scenario, Succeed(after=1.0))
