"""A job with a preprocess stage on CPUs and a train stage on GPUs: crashes and a second operator change nothing."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Sequence

import pytest
from testkit.cluster.cluster import Cluster
from testkit.control_plane.crashes import all_end_alike, calm, complaints, every_death, side_by_side
from testkit.harness import LIFECYCLES, STAGED, Kill, Lifecycle, live

ONE_IN = 48
"""The share of crashes that `make test` runs."""
SIDE_BY_SIDE = 4
"""Lifecycles in parallel, each of which runs its crashes one after the other."""
LIVES = {**LIFECYCLES, **STAGED}
LED_BY_TWO = ("success", "two crashes, then success", "suspended while it preprocesses", "queued in both stages")


def dies(cluster: Cluster, names: Sequence[str], one_in: int) -> None:
    """Crash at one in `one_in` writes of each lifecycle."""

    async def lives() -> None:
        await side_by_side((_dies(cluster, LIVES[name], one_in) for name in names), SIDE_BY_SIDE)

    asyncio.run(lives())


async def _dies(cluster: Cluster, life: Lifecycle, one_in: int) -> None:
    undisturbed = await calm(cluster.kubeconfig, life, "gpu")
    deaths = _drawn(life.name, every_death(len(undisturbed.writes.done)), one_in)
    await all_end_alike(cluster.kubeconfig, life, "gpu", undisturbed, [[kill] for kill in deaths])


def _drawn(seed: str, deaths: Sequence[Kill], one_in: int) -> Sequence[Kill]:
    return random.Random(seed).sample(deaths, math.ceil(len(deaths) / one_in))


@pytest.mark.parametrize("names", [list(STAGED)[:6], list(STAGED)[6:]], ids=["ends", "waits"])
def test_operator_dies_at_a_write_of_each_life(cluster: Cluster, names: Sequence[str]) -> None:
    dies(cluster, names, ONE_IN)


def test_operator_dies_at_some_writes_of_a_success(cluster: Cluster) -> None:
    dies(cluster, ["success"], 6)


@pytest.mark.slow
@pytest.mark.parametrize("name", LIVES)
def test_operator_dies_at_every_write(cluster: Cluster, name: str) -> None:
    dies(cluster, [name], 1)


def test_both_of_two_operators_lead(cluster: Cluster) -> None:
    async def one(life: Lifecycle) -> list[str]:
        undisturbed = await calm(cluster.kubeconfig, life, "gpu")
        lived = await live(cluster.kubeconfig, life, "gpu", at_once=2)
        return [f"{life.name}: {line}" for line in complaints(lived, undisturbed.state)]

    async def lives() -> list[str]:
        return [line for told in await side_by_side(one(LIVES[name]) for name in LED_BY_TWO) for line in told]

    wrong = asyncio.run(lives())
    assert not wrong, "\n".join(wrong)
