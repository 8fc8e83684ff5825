from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.metrics.ranking import roc_auc, roc_points

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
