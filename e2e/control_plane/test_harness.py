"""The harness sees what an operator does: its writes, its deaths, and what comes of them."""

from __future__ import annotations

import asyncio

import pytest
from e2e.cluster.cluster import Cluster
from e2e.harness import KINDS, LIFECYCLES, Kill, Kind, live


@pytest.mark.parametrize("kind", KINDS)
def test_undisturbed_life_ends_well(cluster: Cluster, kind: Kind) -> None:
    lived = asyncio.run(live(cluster.kubeconfig, LIFECYCLES["success"], kind))
    assert lived.state["flights"]["phase"] == "Complete"
    assert len(lived.state["RayJob" if kind == "ray" else "Job"]) == 1
    assert list(lived.violations) == []


def test_child_that_does_not_stop_is_deleted_after_the_grace(cluster: Cluster) -> None:
    lived = asyncio.run(live(cluster.kubeconfig, LIFECYCLES["suspended without an answer"], "gang"))
    assert [(one["outcome"], one["reason"]) for one in lived.state["flights"]["attempts"]] == [
        ("stopped", "Suspended"),
        ("done", "Done"),
    ]


@pytest.mark.parametrize("when", ["before", "after"])
def test_operator_that_dies_is_followed_by_another(cluster: Cluster, when: str) -> None:
    async def both() -> None:
        undisturbed = await live(cluster.kubeconfig, LIFECYCLES["success"], "local")
        kill = Kill(2, "before" if when == "before" else "after")
        disturbed = await live(cluster.kubeconfig, LIFECYCLES["success"], "local", [kill])
        assert disturbed.writes.deaths == 1
        assert disturbed.state == undisturbed.state
        assert list(disturbed.violations) == []

    asyncio.run(both())
