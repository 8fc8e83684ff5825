"""A job with a preprocess stage on CPUs and a train stage on GPUs: crashes and a second operator change nothing."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Sequence

import pytest
from testkit.cluster.cluster import Cluster
from testkit.control_plane.crashes import all_end_alike, calm, complaints, every_crash, side_by_side
from testkit.harness import LIFECYCLES, STAGED, Kill, Lifecycle, run_lifecycle

ONE_IN = 48
"""The share of crashes that `make test` runs."""
SIDE_BY_SIDE = 4
"""Lifecycles in parallel, each of which runs its crashes one after the other."""
ALL = {**LIFECYCLES, **STAGED}
UNDER_TWO_OPERATORS = (
    "success",
    "two crashes, then success",
    "suspended while it preprocesses",
    "queued in both stages",
)


def check_crashes(cluster: Cluster, names: Sequence[str], one_in: int) -> None:
    """Crash at one in `one_in` writes of each lifecycle."""

    async def run_all() -> None:
        await side_by_side((_check_crashes(cluster, ALL[name], one_in) for name in names), SIDE_BY_SIDE)

    asyncio.run(run_all())


async def _check_crashes(cluster: Cluster, lifecycle: Lifecycle, one_in: int) -> None:
    undisturbed = await calm(cluster.kubeconfig, lifecycle, "gpu")
    crashes = _drawn(lifecycle.name, every_crash(len(undisturbed.writes.done)), one_in)
    await all_end_alike(cluster.kubeconfig, lifecycle, "gpu", undisturbed, [[kill] for kill in crashes])


def _drawn(seed: str, crashes: Sequence[Kill], one_in: int) -> Sequence[Kill]:
    return random.Random(seed).sample(crashes, math.ceil(len(crashes) / one_in))


@pytest.mark.parametrize(
    "names",
    [pytest.param(list(STAGED)[:6], id="ends", marks=pytest.mark.slow), pytest.param(list(STAGED)[6:], id="waits")],
)
def test_operator_dies_at_a_write_of_each_lifecycle(cluster: Cluster, names: Sequence[str]) -> None:
    check_crashes(cluster, names, ONE_IN)


def test_operator_dies_at_some_writes_of_a_success(cluster: Cluster) -> None:
    check_crashes(cluster, ["success"], 6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_operator_dies_at_every_write(cluster: Cluster, name: str) -> None:
    check_crashes(cluster, [name], 1)


def test_both_of_two_operators_lead(cluster: Cluster) -> None:
    async def one(lifecycle: Lifecycle) -> list[str]:
        undisturbed = await calm(cluster.kubeconfig, lifecycle, "gpu")
        result = await run_lifecycle(cluster.kubeconfig, lifecycle, "gpu", at_once=2)
        return [f"{lifecycle.name}: {line}" for line in complaints(result, undisturbed.state)]

    async def run_all() -> list[str]:
        return [
            line for results in await side_by_side(one(ALL[name]) for name in UNDER_TWO_OPERATORS) for line in results
        ]

    wrong = asyncio.run(run_all())
    assert not wrong, "\n".join(wrong)
