from __future__ import annotations

import pytest
from bench.gpu.sides import covered


@pytest.mark.parametrize(
    ("spans", "share"),
    [([(0, 4)], 1), ([(6, 10), (0, 4)], 0.8), ([(0, 8), (2, 4), (6, 10)], 1), ([(0, 5), (1, 2), (9, 10)], 0.6)],
)
def test_the_share_of_the_time_that_spans_cover(spans: list[tuple[int, int]], share: float) -> None:
    assert covered(spans) == pytest.approx(share)
