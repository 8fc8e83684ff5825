"""The harness sees the operator's writes, its crashes and their effects."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from testkit.cluster.cluster import Cluster
from testkit.harness import EVERY_KIND, LIFECYCLES, Kill, Kind, run_lifecycle
from testkit.simulators import Preempt, Succeed

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_undisturbed_life_ends_well(cluster: Cluster, kind: Kind) -> None:
    result = asyncio.run(run_lifecycle(cluster.kubeconfig, LIFECYCLES["success"], kind))
    assert result.state["flights"]["phase"] == "Complete"
    assert len(result.state["RayJob" if kind in ("ray", "gpu") else "Job"]) == 1
    assert list(result.violations) == []


def test_child_that_does_not_stop_is_deleted_after_the_grace(cluster: Cluster) -> None:
    result = asyncio.run(run_lifecycle(cluster.kubeconfig, LIFECYCLES["suspended without an answer"], "gang"))
    assert [(one["outcome"], one["reason"]) for one in result.state["flights"]["attempts"]] == [
        ("stopped", "Suspended"),
        ("done", "Done"),
    ]


@pytest.mark.parametrize("when", ["before", "after"])
def test_operator_that_dies_is_followed_by_another(cluster: Cluster, when: str) -> None:
    async def both() -> None:
        undisturbed = await run_lifecycle(cluster.kubeconfig, LIFECYCLES["success"], "local")
        kill = Kill(2, "before" if when == "before" else "after")
        disturbed = await run_lifecycle(cluster.kubeconfig, LIFECYCLES["success"], "local", [kill])
        assert disturbed.writes.crashes == 1
        assert disturbed.state == undisturbed.state
        assert list(disturbed.violations) == []

    asyncio.run(both())


@pytest.mark.parametrize("kind", ["local", "ray", "gpu"])
def test_preemption_whose_pod_is_gone_at_once_is_no_failure(cluster: Cluster, kind: Kind) -> None:
    """No decision needs to have seen the pod."""
    scripts = [Preempt(after=0.2), Succeed()]
    result = asyncio.run(run_lifecycle(cluster.kubeconfig, replace(LIFECYCLES["success"], scripts=scripts), kind))
    status = result.state["flights"]
    assert [one["outcome"] for one in status["attempts"]] == ["preempted", "done"]
    assert ("retries" in status, status["preemptions"]) == (False, 1)
