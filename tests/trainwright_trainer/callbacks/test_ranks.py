from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from trainwright_trainer.callbacks.events import RankRound
from trainwright_trainer.callbacks.ranks import Naming, straggler, straggler_line


def of(*own_seconds: float, step: float = 0.1) -> list[RankRound]:
    return [RankRound(rank, f"host-{rank}", step, own, 0.0, 1) for rank, own in enumerate(own_seconds)]


@pytest.mark.parametrize(
    ("own_seconds", "found"),
    [
        ([], None),
        ([5.0], None),
        ([0.04, 0.04], None),
        ([0.04, 0.0599], None),
        ([0.04, 0.0601], 1),
        ([0.048, 0.02, 0.022], 0),
        ([0.05, 0.08, 0.08, 0.081], None),
        ([0.0004, 0.0008], None),
    ],
)
def test_who_is_clearly_slower_than_most_others_is_one(own_seconds: Sequence[float], found: int | None) -> None:
    slow = straggler(of(*own_seconds))
    assert (None if slow is None else slow.rank) == found


def test_a_delay_that_is_small_beside_the_step_is_none() -> None:
    assert straggler(of(0.5, 0.54, step=0.6)) is None
    slow = straggler(of(0.5, 0.57, step=0.6))
    assert slow is not None
    assert slow.rank == 1


LINE = (
    "rank 1 (flights-w-b) delays the others: its gradients take 48 ms a step (30 ms for the loader), "
    "those of the others 21 ms"
)


def test_the_line_says_who_where_and_by_how_much(ranks: tuple[RankRound, ...]) -> None:
    assert straggler_line(ranks) == LINE
    assert straggler_line(ranks[:1]) is None


def test_each_is_named_once(evaluated: Callable[..., Any], ranks: tuple[RankRound, ...]) -> None:
    naming = Naming()
    other = tuple(replace(one, own_seconds=0.5) if one.rank == 2 else one for one in ranks)
    rounds = [evaluated(0, 0.4, 0.7, ranks=found) for found in (ranks, ranks, other, ranks, other)]
    named = [naming.of(one) for one in rounds]
    assert named[0] == LINE
    assert named[2] is not None
    assert named[2].startswith("rank 2 (flights-w-c) delays")
    assert [named[at] for at in (1, 3, 4)] == [None] * 3
