"""Tables for retention: the checkpoints to delete, and the snapshots that wait for the disk."""

from __future__ import annotations

from typing import Literal

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from trainwright_api.resource.job import CheckpointPolicy
from trainwright_trainer.rundir.blocks import whole
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.retention import SMALL_BYTES, Fence, Kept, still_waiting, to_delete
from trainwright_trainer.rundir.snapshot import Position, Snapshot


def policy(keep: int, order: Literal["min", "max"] = "min") -> CheckpointPolicy:
    return CheckpointPolicy.model_validate({"numToKeep": keep, "scoreOrder": order})


def kept(*scores: float | None, attempt: int = 1) -> list[Kept]:
    """Checkpoints at steps 1, 2, 3 … of one attempt."""
    return [Kept(CheckpointName(step, attempt), score) for step, score in enumerate(scores, start=1)]


ALONE = Fence(attempt=1)


@pytest.mark.parametrize(
    ("scores", "keep", "order", "gone"),
    [
        pytest.param([], 3, "min", [], id="nothing is there"),
        pytest.param([None, None], 1, "min", [], id="the newest two stay whatever numToKeep says"),
        pytest.param([0.1, 0.2, 0.3], 1, "min", [], id="the best stays beside the newest two"),
        pytest.param([0.1, 0.2, 0.3, 0.4], 1, "min", [2], id="what is neither the best nor new goes"),
        pytest.param([0.3, 0.1, 0.2, 0.5, 0.6], 3, "min", [], id="the three lowest and the newest two"),
        pytest.param([0.3, 0.1, 0.2, 0.5, 0.6], 3, "max", [2, 3], id="or the three highest, two of which are new"),
        pytest.param([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 3, "min", [4], id="the three best are old"),
        pytest.param([0.6, 0.5, 0.4, 0.3, 0.2, 0.1], 3, "min", [1, 2, 3], id="the three best are new"),
        pytest.param([0.3, 0.1, 0.2, 0.5, 0.6], 5, "min", [], id="room for all"),
        pytest.param([0.9, None, None, None, 0.1], 3, "min", [2, 3], id="one without a score ranks last"),
        pytest.param([None, None, None, None], 3, "min", [1], id="of those without a score the newer stays"),
        pytest.param([0.5, 0.5, 0.5, 0.9, 0.9], 2, "min", [1], id="of equal scores the newer stays"),
        pytest.param([0.5, 0.5, 0.5, 0.1, 0.1], 2, "max", [1], id="of equal scores the newer stays, highest first"),
        pytest.param([float("inf"), None, 0.0, 0.0], 3, "min", [2], id="an infinite score is a score"),
    ],
)
def test_one_attempt(scores: list[float | None], keep: int, order: Literal["min", "max"], gone: list[int]) -> None:
    assert [name.step for name in to_delete(kept(*scores), ALONE, policy(keep, order))] == gone


def test_a_late_writer_of_an_older_attempt_cannot_harm_the_newer() -> None:
    """Attempt 1 still runs. It deletes its own checkpoints, never those of attempt 2, which are newer and better."""
    late = [*kept(0.5, 0.4, 0.3), *kept(0.1, 0.9, 0.9, 0.9, attempt=2)]
    assert to_delete(late, ALONE, policy(2)) == [CheckpointName(1, 1)]


def test_the_newer_attempt_leaves_the_attempt_alone_that_it_pinned_from() -> None:
    fence = Fence(attempt=3, horizon=2, pinned=CheckpointName(3, 2))
    there = [*kept(0.1, attempt=1), *kept(0.1, 0.1, 0.1, 0.1, attempt=2), *kept(None, attempt=3)]
    assert to_delete(there, fence, policy(1)) == [CheckpointName(1, 1)]


def test_the_pinned_one_stays_when_it_is_neither_new_nor_good() -> None:
    fence = Fence(attempt=3, horizon=2, pinned=CheckpointName(1, 2))
    there = [Kept(CheckpointName(1, 2)), *[Kept(CheckpointName(step, 3), 0.1) for step in (2, 3, 4)]]
    assert to_delete(there, fence, policy(2)) == [CheckpointName(2, 3)]


def test_a_damaged_one_that_was_passed_over_takes_no_seat_of_the_newest_two() -> None:
    """Step 9 of attempt 1 was damaged, so step 5 of attempt 2 is pinned. Only verified checkpoints count as newest."""
    fence = Fence(attempt=3, horizon=2, pinned=CheckpointName(5, 2))
    there = [Kept(CheckpointName(9, 1)), Kept(CheckpointName(5, 2)), *kept_of_3(0.2, 0.1)]
    assert to_delete(there, fence, policy(2)) == [CheckpointName(9, 1)]


def kept_of_3(*scores: float) -> list[Kept]:
    """Checkpoints at steps 6, 7 … of attempt 3."""
    return [Kept(CheckpointName(step, 3), score) for step, score in enumerate(scores, start=6)]


def test_a_checkpoint_stays_while_another_that_stays_uses_its_best_weights() -> None:
    first, *others = kept(0.9, 0.1, 0.2, 0.3)
    using = [Kept(one.name, one.score, first.name) for one in others]
    assert to_delete([first, *using], ALONE, policy(1)) == []
    assert to_delete([first, *using[:-1], *kept(None, None, None, 0.3)[3:]], ALONE, policy(1)) == []
    assert to_delete([first, *others], ALONE, policy(1)) == [first.name]


@given(
    st.lists(st.tuples(st.integers(1, 20), st.integers(1, 4), st.none() | st.floats(0, 1)), max_size=12),
    st.integers(1, 4),
    st.integers(0, 3),
    st.integers(1, 6),
)
def test_whatever_is_there_the_fence_holds_and_the_newest_two_and_the_best_stay(
    rows: list[tuple[int, int, float | None]], attempt: int, horizon: int, keep: int
) -> None:
    there = list({(step, n): Kept(CheckpointName(step, n), score) for step, n, score in rows}.values())
    fence = Fence(attempt, min(horizon, attempt))
    gone = to_delete(there, fence, policy(keep))
    assert all(fence.may_delete(name) for name in gone)
    own = sorted(c.name for c in there if c.name.attempt == attempt)
    assert not set(own[-2:]) & set(gone)
    assert len(own) - len(set(own) & set(gone)) <= keep + 2
    seen = [c for c in there if fence.may_delete(c.name)]
    scored = sorted(c.score for c in seen if c.score is not None)[:keep]
    assert sorted(c.score for c in seen if c.name not in gone and c.score is not None)[: len(scored)] == scored


def left(scores: list[float | None], keep: int, order: Literal["min", "max"] = "min", size: int = 8) -> list[int]:
    """The steps of the snapshots that wait, after snapshots at steps 1, 2, 3 … and no completed write."""
    policy = CheckpointPolicy.model_validate({"numToKeep": keep, "scoreOrder": order})
    tensors = {"model.weight": torch.empty(size, dtype=torch.uint8)}
    waiting: list[Snapshot] = []
    for step, score in enumerate(scores, start=1):
        waiting = still_waiting(waiting, Snapshot(Position(step, 0, 0), whole(tensors), {}, score), policy)
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
