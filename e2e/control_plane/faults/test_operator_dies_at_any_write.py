"""The operator crashes before or after any of its writes, and a new one takes over: the end state is the same."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from testkit.cluster.cluster import Cluster
from testkit.control_plane.crashes import all_end_alike, calm, every_death, side_by_side
from testkit.harness import KINDS, LIFECYCLES, Kill, Kind, Lifecycle, Operators, User, live, seeds

OTHERS = [name for name in LIFECYCLES if name != "success"]
ONE_IN = 24
"""The share of crashes of the other lifecycles that `make test` runs."""
LIVES_WITH_SEVERAL_DEATHS = 6
SECONDS_OF_QUIET = 0.4

Deaths = Callable[[int], Sequence[Sequence[Kill]]]


def dies(cluster: Cluster, name: str, kind: Kind, deaths: Deaths) -> None:
    """`deaths` returns the crashes for the number of writes that the lifecycle makes."""

    async def lives() -> None:
        life, kubeconfig = LIFECYCLES[name], cluster.kubeconfig
        undisturbed = await calm(kubeconfig, life, kind)
        await all_end_alike(kubeconfig, life, kind, undisturbed, deaths(len(undisturbed.writes.done)))

    asyncio.run(lives())


def every(writes: int) -> list[list[Kill]]:
    return [[kill] for kill in every_death(writes)]


def some(seed: str) -> Deaths:
    def drawn(writes: int) -> list[list[Kill]]:
        deaths = every(writes)
        return random.Random(seed).sample(deaths, math.ceil(len(deaths) / ONE_IN))

    return drawn


def several_in_one_life(draws: random.Random) -> Deaths:
    """A successor may crash too, even at its very first write."""

    def drawn(writes: int) -> list[list[Kill]]:
        lives = range(LIVES_WITH_SEVERAL_DEATHS)
        return [draws.sample(every_death(writes), draws.randint(2, min(6, writes))) for _ in lives]

    return drawn


@pytest.mark.parametrize("kind", KINDS)
def test_at_every_write_of_a_success(cluster: Cluster, kind: Kind) -> None:
    dies(cluster, "success", kind, every)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OTHERS)
def test_at_some_writes_of_every_other_life(cluster: Cluster, name: str, kind: Kind) -> None:
    dies(cluster, name, kind, some(f"{name} of {kind}"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OTHERS)
def test_at_every_write_of_every_other_life(cluster: Cluster, name: str, kind: Kind) -> None:
    dies(cluster, name, kind, every)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", list(LIFECYCLES))
def test_again_and_again_in_one_life(cluster: Cluster, name: str, kind: Kind) -> None:
    dies(cluster, name, kind, several_in_one_life(random.Random(seeds.rotating())))


@pytest.mark.parametrize("kind", KINDS)
def test_an_operator_that_starts_after_the_end_writes_nothing(cluster: Cluster, kind: Kind) -> None:
    async def lives() -> None:
        told = await side_by_side(_written_anew(cluster.kubeconfig, life, kind) for life in LIFECYCLES.values())
        assert told == [[]] * len(LIFECYCLES)

    asyncio.run(lives())


async def _written_anew(kubeconfig: Path, life: Lifecycle, kind: Kind) -> list[str]:
    """The writes of an operator that is started after the end of the job."""
    written: list[str] = []

    async def scenario(user: User) -> None:
        await life.scenario(user)
        await user.operators.quiet(SECONDS_OF_QUIET)
        assert isinstance(user.operators, Operators)
        before = len(user.operators.writes.done)
        await user.operators.restart()
        await user.operators.have_looked()
        await user.operators.quiet(SECONDS_OF_QUIET)
        written.extend(user.operators.writes.done[before:])

    await live(kubeconfig, replace(life, scenario=scenario), kind)
    return written
