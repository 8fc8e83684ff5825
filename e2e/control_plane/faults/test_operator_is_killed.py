"""SIGKILL ends a real operator during a write or at any moment. Its successor continues."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from testkit.cluster.cluster import Cluster
from testkit.control_plane.crashes import calm, complaints
from testkit.control_plane.operator_kills import AtAMoment, InAWrite, Processes, Strike
from testkit.harness import KINDS, LIFECYCLES, Kind, run_lifecycle_under, seeds
from testkit.proxy import Proxy


def is_killed(cluster: Cluster, namespace: str, folder: Path, name: str, kind: Kind, strikes: Sequence[Strike]) -> int:
    """Return the number of kills. `namespace` is the operator's own."""

    async def run_all() -> int:
        lifecycle, kubeconfig = LIFECYCLES[name], cluster.kubeconfig
        undisturbed = await calm(kubeconfig, lifecycle, kind)
        async with Proxy(kubeconfig, folder) as proxy:
            made: list[Processes] = []

            def operating(of_job: str) -> Processes:
                made.append(Processes(cluster, proxy, folder, namespace, of_job, strikes))
                return made[0]

            result = await run_lifecycle_under(kubeconfig, lifecycle, kind, operating)
        assert complaints(result, undisturbed.state) == []
        return made[0].killed

    return asyncio.run(run_all())


@pytest.mark.parametrize(
    ("name", "kind", "strikes"),
    [
        (
            "two crashes, then success",
            "ray",
            [
                InAWrite(1, "after"),  # the name is in the status, but the operator does not know it
                InAWrite(2, "after"),  # a support exists
                InAWrite(2, "after"),  # the child exists
                InAWrite(3, "before"),
                InAWrite(4, "after"),
            ],
        ),
        (
            "suspended and resumed",
            "gang",
            [
                InAWrite(3, "before"),
                InAWrite(1, "before"),
                InAWrite(4, "before"),
                InAWrite(4, "after"),
                InAWrite(3, "before"),
            ],
        ),
    ],
)
def test_in_the_middle_of_a_write(
    cluster: Cluster, namespace: str, tmp_path: Path, name: str, kind: Kind, strikes: Sequence[Strike]
) -> None:
    assert is_killed(cluster, namespace, tmp_path, name, kind, strikes) == len(strikes)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["two crashes, then success", "suspended and resumed"])
def test_at_any_moment(cluster: Cluster, namespace: str, tmp_path: Path, name: str, kind: Kind) -> None:
    draws = random.Random(seeds.rotating())
    strikes: list[Strike] = [InAWrite(draws.randint(1, 3), draws.choice(("before", "after"))) for _ in range(3)]
    strikes += [AtAMoment(draws.uniform(0, 0.2)) for _ in range(3)]
    draws.shuffle(strikes)
    # A lifecycle may end before the last kill.
    assert is_killed(cluster, namespace, tmp_path, name, kind, strikes) > 0
