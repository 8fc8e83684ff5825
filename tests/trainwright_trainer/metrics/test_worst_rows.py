from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

from trainwright_trainer.metrics.worst_rows import MOST, WorstRows

LOSSES = torch.randint(0, 30, (200,), generator=torch.Generator().manual_seed(0)) / 7
ROWS = np.random.default_rng(0).permutation(1000)[:200]


def worst(*parts: slice) -> WorstRows:
    found = WorstRows()
    for part in parts:
        found.update(ROWS[part], LOSSES[part])
    return found


def test_the_largest_losses_come_first_and_of_equal_ones_the_first_row() -> None:
    found = worst(slice(None))
    expected = sorted(zip(-LOSSES.double().numpy(), ROWS, strict=True))[:MOST]
    assert found.losses.tolist() == [-loss for loss, _ in expected]
    assert found.rows.tolist() == [row for _, row in expected]


@pytest.mark.parametrize("cuts", [(1,), (50, 199), (3, 4, 120)])
def test_any_cut_into_batches_and_processes_has_the_same_rows(cuts: tuple[int, ...]) -> None:
    edges = [0, *cuts, 200]
    parts = [slice(a, b) for a, b in pairwise(edges)]
    assert worst(*parts).rows.tolist() == worst(slice(None)).rows.tolist()
    together = WorstRows()
    for part in reversed(parts):
        together.add(worst(part).tensors())
    assert together.rows.tolist() == worst(slice(None)).rows.tolist()
    assert together.losses.tolist() == worst(slice(None)).losses.tolist()


def test_a_loss_that_is_no_number_is_left_out() -> None:
    found = WorstRows()
    found.update(np.array([4, 5, 6]), torch.tensor([float("nan"), 1.0, float("inf")]))
    assert found.rows.tolist() == [5]
