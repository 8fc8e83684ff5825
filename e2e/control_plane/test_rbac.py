"""The operator under the roles of its manifest: full lifecycles, then the audit log. No verb is unused, none denied."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from testkit.api import Api, ApiError, until
from testkit.api.resource import TRAINING_JOBS
from testkit.cluster.audit import AuditEvent
from testkit.cluster.cluster import Cluster
from testkit.control_plane.installed import (
    ACCOUNT,
    MANIFESTS,
    Installed,
    apply,
    certificates_are_mended,
    installed,
    play_lifecycle,
    posted,
    webhook,
)
from testkit.control_plane.operator_process import eventually
from testkit.control_plane.scenarios import EVERYWHERE, FREE_GPUS, LOST_NODE_SEEN, SLICE, SLICED_GPUS, SLICES
from testkit.harness import LIFECYCLES, training_job
from testkit.harness.grants import Grant, denied, grants, needless

MANIFEST = MANIFESTS / "clusterwide.yaml"
GRANTED = grants(MANIFEST)


@pytest.fixture(scope="module")
def operated(exclusive_cluster_of_module: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """An operator that has run all of it."""
    with installed(exclusive_cluster_of_module, tmp_path_factory.mktemp("operator"), MANIFEST.name) as one:
        apply(one.cluster, webhook(one.port))
        asyncio.run(_everything(one))
        yield one


@pytest.fixture(scope="module")
def asked(operated: Installed) -> Sequence[AuditEvent]:
    return operated.asked()


def test_no_request_was_denied(asked: Sequence[AuditEvent]) -> None:
    assert len(asked) > 100
    assert denied(asked) == []


def test_every_verb_was_needed(asked: Sequence[AuditEvent]) -> None:
    assert [str(grant) for grant in needless(GRANTED, asked)] == []


@pytest.mark.parametrize(
    "grant",
    [
        Grant("patch", "batch", "jobs"),
        Grant("get", "", "secrets"),
        Grant("get", "trainwright.dev", "trainingjobs/status"),
        replace(GRANTED[0], namespace="team-a"),
    ],
    ids=str,
)
def test_a_verb_too_many_is_found(asked: Sequence[AuditEvent], grant: Grant) -> None:
    assert grant in needless([*GRANTED, grant], asked)


def test_a_verb_too_few_is_found(operated: Installed) -> None:
    """Runs last, because it removes a verb for good."""
    _take_away(operated.cluster, "events")
    before = len(operated.asked())
    namespace = asyncio.run(_one_life(operated))
    # The Event of the end follows the status that ends the lifecycle.
    missing = [f"create /apis/events.k8s.io/v1/namespaces/{namespace}/events: 403"]
    eventually(lambda: denied(operated.asked()[before:]) == missing, operated.process)


async def _everything(one: Installed) -> None:
    async with one.simulators() as (api, simulators):
        await simulators.nodes.add("a-node")
        await simulators.nodes.add("with-gpus", gpus=40)
        await simulators.nodes.add("with-slices", gpus=SLICES, resource=SLICE)
        async with asyncio.TaskGroup() as group:
            group.create_task(_webhook_refuses(api))
            group.create_task(certificates_are_mended(api))
            for lifecycle, kind in EVERYWHERE:
                group.create_task(
                    play_lifecycle(api, simulators, await api.make_namespace("lifecycle"), lifecycle, kind)
                )
        await play_lifecycle(api, simulators, await api.make_namespace("lifecycle"), FREE_GPUS, "ray")
        await play_lifecycle(api, simulators, await api.make_namespace("lifecycle"), SLICED_GPUS, "ray")
        await play_lifecycle(api, simulators, await api.make_namespace("lifecycle"), LOST_NODE_SEEN, "local")
        posted(simulators, at_least=len(EVERYWHERE))


async def _webhook_refuses(api: Api) -> None:
    """Before the leader writes the CA bundle, jobs are let through, so this one is a dry run."""
    bad = {**training_job("bad", config={}), "apiVersion": TRAINING_JOBS.api_version, "kind": TRAINING_JOBS.kind}

    async def refusal() -> str:
        try:
            await api.request("POST", TRAINING_JOBS.path("default"), bad, dryRun="All")
        except ApiError as error:
            return str(error)
        return ""

    await until(refusal, lambda answer: "denied the request: bad: 2 mistakes" in answer, seconds=60, what="a refusal")


def _take_away(cluster: Cluster, resource: str) -> None:
    """Remove its rule, and wait until the authorizer has noticed."""
    role = json.loads(cluster.kubectl("get", "clusterrole", "trainwright-operator", "-o", "json"))
    role["rules"] = [rule for rule in role["rules"] if rule["resources"] != [resource]]
    cluster.kubectl("replace", "-f", "-", stdin=json.dumps(role))
    can = ("auth", "can-i", "create", f"{resource}.events.k8s.io", f"--as={ACCOUNT}")
    eventually(lambda: cluster.kubectl.run(*can).stdout.strip() == "no")


async def _one_life(one: Installed) -> str:
    async with one.simulators() as (api, simulators):
        namespace = await api.make_namespace("lifecycle")
        await play_lifecycle(api, simulators, namespace, LIFECYCLES["success"], "local")
    return namespace
