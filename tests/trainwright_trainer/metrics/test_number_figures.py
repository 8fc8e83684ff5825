from __future__ import annotations

import numpy as np
import pytest

from trainwright_trainer.metrics.number_figures import residuals


def test_the_residuals_of_each_group() -> None:
    generator = np.random.default_rng(0)
    truths = generator.normal(50, 10, 1000)
    values = truths + generator.normal(2, 1 + (truths > 50), 1000)
    found = residuals(values, truths)
    errors = values - truths
    order = np.argsort(values)
    assert len(found.predicted) == 10
    for group in (0, 4, 9):
        rows = order[100 * group : 100 * (group + 1)]
        assert found.predicted[group] == pytest.approx(values[rows].mean())
        expected = np.quantile(errors[rows], [0.1, 0.5, 0.9])
        assert [found.low[group], found.median[group], found.high[group]] == pytest.approx(expected)


def test_each_row_is_in_one_bar() -> None:
    errors = np.array([-100.0, *np.linspace(-1, 1, 998), 100.0])
    found = residuals(errors, np.zeros(1000))
    assert sum(found.counts) == 1000
    inner, _ = np.histogram(errors, found.edges)
    assert list(found.counts[1:-1]) == inner[1:-1].tolist()


@pytest.mark.parametrize(("rows", "groups"), [(1, 1), (19, 1), (35, 3)])
def test_few_rows_are_few_groups(rows: int, groups: int) -> None:
    found = residuals(np.ones(rows), np.ones(rows))
    assert len(found.predicted) == groups
    assert (found.edges[0], found.edges[-1]) == (-0.5, 0.5)
