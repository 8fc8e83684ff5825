from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.metrics.ranking import (
    BITS,
    histogram,
    roc_auc,
    roc_auc_of_histogram,
    roc_points,
    told_apart,
)

SCORES = st.floats(-1e3, 1e3, allow_subnormal=False)
ROWS = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=40)


@given(ROWS)
def test_the_area_is_the_share_of_pairs_won(rows: list[tuple[int, bool]]) -> None:
    scores, positive = np.array([row[0] for row in rows], float), np.array([row[1] for row in rows])
    pairs = [(a > b) + 0.5 * (a == b) for a in scores[positive] for b in scores[~positive]]
    assert roc_auc(scores, positive) == (sum(pairs) / len(pairs) if pairs else None)


@given(ROWS)
def test_the_curve_ends_in_all_rows_and_encloses_the_area(rows: list[tuple[int, bool]]) -> None:
    scores, positive = np.array([row[0] for row in rows], float), np.array([row[1] for row in rows])
    false, true = roc_points(scores, positive)
    assert (false[0], true[0]) == (0, 0)
    assert (false[-1], true[-1]) == ((~positive).sum(), positive.sum())
    assert len(false) == len(set(scores)) + 1
    area = roc_auc(scores, positive)
    if area is not None:
        assert np.isclose(np.trapezoid(true / true[-1], false / false[-1]), area)


@given(st.lists(st.tuples(SCORES, st.booleans()), min_size=1, max_size=40), st.floats(-4, 4))
def test_what_rounding_parts_is_a_tie(rows: list[tuple[float, bool]], ulps: float) -> None:
    scores, positive = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    settled = told_apart(scores)
    last_bit = np.where(settled == 0, 0, np.spacing(settled))  # zero is not shaken: it has no digits
    shaken = settled + np.round(ulps) * last_bit * positive
    assert roc_auc(shaken, positive) == roc_auc(settled, positive)


@given(st.floats(-1e300, 1e300))
def test_ten_digits_of_a_score_count(score: float) -> None:
    found = float(told_apart(np.array([score]))[0])
    assert abs(found - score) <= abs(score) * 2.0**-BITS


def test_every_bit_of_float32_counts() -> None:
    scores = np.array([1, np.nextafter(np.float32(1), np.float32(2))], np.float32)
    assert roc_auc(scores, np.array([False, True])) == 1.0


@pytest.mark.parametrize("spread", [1e-4, 1e-2, 1.0, 8.0])
@pytest.mark.parametrize("start", [0.0, -3.0])
def test_the_area_of_a_histogram_is_close(spread: float, start: float) -> None:
    """From the scores of an untrained model, all close to its start, to those of a trained one."""
    draws = np.random.default_rng(0)
    scores = start + spread * draws.normal(size=100_000)
    positive = draws.random(100_000) < 1 / (1 + np.exp(-(scores - start) / spread))
    exact = roc_auc(scores, positive)
    assert exact is not None
    found = histogram(torch.from_numpy(scores), torch.from_numpy(positive), start).numpy()
    assert roc_auc_of_histogram(*found) == pytest.approx(exact, abs=1e-4)


def test_a_histogram_of_one_class_has_no_area() -> None:
    found = histogram(torch.tensor([1.0, 1e9, -1e9]), torch.ones(3, dtype=torch.bool), 0.0).numpy()
    assert roc_auc_of_histogram(*found) is None
    assert (found[0, [0, -1]] == 1).all()  # what lies beyond the bins is in the outermost ones
