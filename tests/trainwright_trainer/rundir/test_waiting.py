"""Tables for the snapshots that wait for the disk."""

from __future__ import annotations

from typing import Literal

import pytest
import torch

from trainwright_api.resource.job import CheckpointPolicy
from trainwright_trainer.rundir.retention import SMALL_BYTES, still_waiting
from trainwright_trainer.rundir.snapshot import Position, Snapshot


def left(scores: list[float | None], keep: int, order: Literal["min", "max"] = "min", size: int = 8) -> list[int]:
    """The steps of the snapshots that wait, after snapshots at steps 1, 2, 3 … and no completed write."""
    policy = CheckpointPolicy.model_validate({"numToKeep": keep, "scoreOrder": order})
    tensors = {"model.weight": torch.empty(size, dtype=torch.uint8)}
    waiting: list[Snapshot] = []
    for step, score in enumerate(scores, start=1):
        waiting = still_waiting(waiting, Snapshot(Position(step, 0, 0), tensors, {}, score), policy)
    return [one.position.step for one in waiting]


@pytest.mark.parametrize(
    ("scores", "keep", "order", "steps"),
    [
        ([0.1], 3, "min", [1]),
        ([None, None], 3, "min", [2]),
        ([0.1, None, None], 3, "min", [1, 3]),
        ([0.5, 0.1, 0.3, 0.2, 0.9], 3, "min", [2, 3, 4, 5]),
        ([0.5, 0.1, 0.3, 0.2, 0.9], 1, "max", [1, 5]),
        ([float("nan"), None], 3, "min", [2]),
    ],
)
def test_the_newest_and_the_best_wait(
    scores: list[float | None], keep: int, order: Literal["min", "max"], steps: list[int]
) -> None:
    assert left(scores, keep, order) == steps


def test_of_large_ones_the_best_and_the_newest_wait() -> None:
    assert left([0.5, 0.1, 0.3, 0.2, 0.9], 3, size=SMALL_BYTES // 2) == [2, 5]
    assert left([0.5, 0.1, 0.3, 0.2, 0.9], 3, "max", size=SMALL_BYTES * 2) == [1, 5]
