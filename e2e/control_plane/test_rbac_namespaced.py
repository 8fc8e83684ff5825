"""The operator for two namespaces, with Roles in each: it works there, sees nothing else, and is denied nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from testkit.api.resource import TRAINING_JOBS
from testkit.cluster.audit import AuditEvent
from testkit.cluster.cluster import Cluster
from testkit.control_plane.installed import (
    MANIFESTS,
    NAMESPACE,
    Installed,
    apply,
    certificates_are_mended,
    installed,
    objects,
    one_after_the_other,
    play_lifecycle,
    posted,
)
from testkit.control_plane.scenarios import IN_TEAM_A, IN_TEAM_B, LOST_NODE_UNSEEN
from testkit.harness import training_job
from testkit.harness.grants import denied, grants, needless

MANIFEST = MANIFESTS / "namespaced.yaml"
WATCHED = ("team-a", "team-b")
UNWATCHED = "team-c"


@pytest.fixture(scope="module")
def operated(exclusive_cluster_of_module: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """An operator that has run all of it, with nodes that it may not see."""
    cluster = exclusive_cluster_of_module
    for namespace in (*WATCHED, UNWATCHED):
        cluster.kubectl("create", "namespace", namespace)
    apply(cluster, *_roles_of("team-b"))
    folder = tmp_path_factory.mktemp("operator")
    with installed(cluster, folder, MANIFEST.name, TRAINWRIGHT_NAMESPACES=",".join(WATCHED)) as one:
        asyncio.run(_everything(one))
        yield one


@pytest.fixture(scope="module")
def asked(operated: Installed) -> Sequence[AuditEvent]:
    return operated.asked()


def test_no_request_was_denied(asked: Sequence[AuditEvent]) -> None:
    assert len(asked) > 100
    assert denied(asked) == []


def test_every_verb_was_needed(asked: Sequence[AuditEvent]) -> None:
    """The Role is the same in every namespace."""
    as_one = [replace(event, namespace="team-a") if event.namespace in WATCHED else event for event in asked]
    assert [str(grant) for grant in needless(grants(MANIFEST), as_one)] == []


def test_it_asks_for_nothing_elsewhere(asked: Sequence[AuditEvent]) -> None:
    of_objects = [event for event in asked if event.resource]
    assert {event.namespace for event in of_objects} == {*WATCHED, NAMESPACE, ""}
    assert {event.resource for event in of_objects if not event.namespace} == {"tokenreviews"}


def test_jobs_elsewhere_are_left_alone(operated: Installed) -> None:
    job = json.loads(operated.cluster.kubectl("get", "tj", "alone", f"-n={UNWATCHED}", "-o=json"))
    assert job.get("status", {}) == {}
    assert operated.cluster.kubectl("get", "all,events", f"-n={UNWATCHED}", "-o=name").split() == [
        "trainingjob.trainwright.dev/alone"
    ]


async def _everything(one: Installed) -> None:
    async with one.simulators() as (api, simulators):
        await simulators.nodes.add("a-node")
        await simulators.nodes.add("with-gpus", gpus=40)
        await api.create(TRAINING_JOBS, training_job("alone"), UNWATCHED)
        async with asyncio.TaskGroup() as group:
            group.create_task(certificates_are_mended(api))
            group.create_task(one_after_the_other(api, simulators, "team-a", IN_TEAM_A))
            group.create_task(one_after_the_other(api, simulators, "team-b", IN_TEAM_B))
        posted(simulators, at_least=len((*IN_TEAM_A, *IN_TEAM_B)))
        # Last, because it also removes the node from other jobs' pods.
        await play_lifecycle(api, simulators, "team-a", LOST_NODE_UNSEEN, "local")


def _roles_of(namespace: str) -> list[dict[str, Any]]:
    """The manifest's objects of team-a, for another namespace."""
    found = [one for one in objects(MANIFEST.name) if one["metadata"].get("namespace") == "team-a"]
    return [{**one, "metadata": {**one["metadata"], "namespace": namespace}} for one in found]
