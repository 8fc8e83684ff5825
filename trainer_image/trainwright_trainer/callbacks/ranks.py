"""Finds the rank that the others wait for, and formats the line that names it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from trainwright_trainer.callbacks import formats
from trainwright_trainer.callbacks.events import Evaluated, RankRound

LEAST_SHARE = 0.1
"""A straggler's own part is longer than the median of the others by more than this share of the whole step,"""
LEAST_SECONDS = 0.02
"""and by at least this many seconds. Below it, noise would decide which rank is named."""


def straggler(ranks: Sequence[RankRound]) -> RankRound | None:
    """The rank whose own part of a step takes clearly longer than that of the others, or None."""
    if len(ranks) < 2:
        return None
    slowest = max(ranks, key=lambda one: one.own_seconds)
    delay = slowest.own_seconds - _others(ranks, slowest)
    return slowest if delay > LEAST_SHARE * slowest.step_seconds and delay >= LEAST_SECONDS else None


def straggler_line(ranks: Sequence[RankRound]) -> str | None:
    """`rank 1 (gpu-7) delays the others: its gradients take 48 ms a step (30 ms for the loader), …`"""
    slow = straggler(ranks)
    if slow is None:
        return None
    own, loader, others = map(formats.part_of_step, (slow.own_seconds, slow.loader_seconds, _others(ranks, slow)))
    return (
        f"rank {slow.rank} ({slow.host}) delays the others: its gradients take {own} a step "
        f"({loader} for the loader), those of the others {others}"
    )


def _others(ranks: Sequence[RankRound], slowest: RankRound) -> float:
    return median(one.own_seconds for one in ranks if one is not slowest)


class Naming:
    """Names each straggler once."""

    def __init__(self) -> None:
        self._named: set[int] = set()

    def of(self, round_: Evaluated) -> str | None:
        slow = straggler(round_.ranks)
        if slow is None or slow.rank in self._named:
            return None
        self._named.add(slow.rank)
        return straggler_line(round_.ranks)
