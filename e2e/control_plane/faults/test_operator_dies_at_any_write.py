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
from testkit.control_plane.crashes import all_end_alike, calm, every_crash, side_by_side
from testkit.harness import KINDS, LIFECYCLES, Kill, Kind, Lifecycle, Operators, User, run_lifecycle, seeds

OTHERS = [name for name in LIFECYCLES if name != "success"]
ONE_IN = 24
"""The share of crashes of the other lifecycles that `make test` runs."""
RUNS_WITH_SEVERAL_CRASHES = 6
SECONDS_OF_QUIET = 0.4
ONE_KIND_SOON = ["ray", *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS if kind != "ray")]
"""The lifecycles of `ray` make the most writes. Those of the other kinds pass through the same code."""

Crashes = Callable[[int], Sequence[Sequence[Kill]]]


def check_crashes(cluster: Cluster, name: str, kind: Kind, crashes: Crashes) -> None:
    """`crashes` returns the crashes for the number of writes that the lifecycle makes."""

    async def run_all() -> None:
        lifecycle, kubeconfig = LIFECYCLES[name], cluster.kubeconfig
        undisturbed = await calm(kubeconfig, lifecycle, kind)
        await all_end_alike(kubeconfig, lifecycle, kind, undisturbed, crashes(len(undisturbed.writes.done)))

    asyncio.run(run_all())


def every(writes: int) -> list[list[Kill]]:
    return [[kill] for kill in every_crash(writes)]


def some(seed: str) -> Crashes:
    def drawn(writes: int) -> list[list[Kill]]:
        crashes = every(writes)
        return random.Random(seed).sample(crashes, math.ceil(len(crashes) / ONE_IN))

    return drawn


def several_in_one_run(draws: random.Random) -> Crashes:
    """A successor may crash too, even at its very first write."""

    def drawn(writes: int) -> list[list[Kill]]:
        runs = range(RUNS_WITH_SEVERAL_CRASHES)
        return [draws.sample(every_crash(writes), draws.randint(2, min(6, writes))) for _ in runs]

    return drawn


@pytest.mark.parametrize("kind", ONE_KIND_SOON)
def test_at_every_write_of_a_success(cluster: Cluster, kind: Kind) -> None:
    check_crashes(cluster, "success", kind, every)


@pytest.mark.parametrize("kind", ONE_KIND_SOON)
@pytest.mark.parametrize("name", OTHERS)
def test_at_some_writes_of_every_other_life(cluster: Cluster, name: str, kind: Kind) -> None:
    check_crashes(cluster, name, kind, some(f"{name} of {kind}"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OTHERS)
def test_at_every_write_of_every_other_life(cluster: Cluster, name: str, kind: Kind) -> None:
    check_crashes(cluster, name, kind, every)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", list(LIFECYCLES))
def test_again_and_again_in_one_life(cluster: Cluster, name: str, kind: Kind) -> None:
    check_crashes(cluster, name, kind, several_in_one_run(random.Random(seeds.rotating())))


@pytest.mark.parametrize("kind", ONE_KIND_SOON)
def test_an_operator_that_starts_after_the_end_writes_nothing(cluster: Cluster, kind: Kind) -> None:
    async def run_all() -> None:
        results = await side_by_side(
            _written_anew(cluster.kubeconfig, lifecycle, kind) for lifecycle in LIFECYCLES.values()
        )
        assert results == [[]] * len(LIFECYCLES)

    asyncio.run(run_all())


async def _written_anew(kubeconfig: Path, lifecycle: Lifecycle, kind: Kind) -> list[str]:
    """The writes of an operator that is started after the end of the job."""
    written: list[str] = []

    async def scenario(user: User) -> None:
        await lifecycle.scenario(user)
        await user.operators.quiet(SECONDS_OF_QUIET)
        assert isinstance(user.operators, Operators)
        before = len(user.operators.writes.done)
        await user.operators.restart()
        await user.operators.have_looked()
        await user.operators.quiet(SECONDS_OF_QUIET)
        written.extend(user.operators.writes.done[before:])

    await run_lifecycle(kubeconfig, replace(lifecycle, scenario=scenario), kind)
    return written
