"""The figures of numbers: predicted against true, and the residuals."""

from __future__ import annotations

import numpy as np

from trainwright_trainer.metrics.base import Array
from trainwright_trainer.report.data import PredictedAgainstTrue, Residuals

VALUE_BINS = 30
# The share of values below the bins, and above them; the outermost bins count these too.
CUT_OFF = 0.005
GROUPS = 10
# Rows that a group needs, so that its quantiles mean something.
GROUP_ROWS = 10


def predicted_against_true(values: Array, truths: Array) -> PredictedAgainstTrue:
    """Bins of equal width over all but the outermost targets. Values beyond them count in the first and last bin."""
    edges = _edges(truths)
    row, column = (_bins(of, edges) for of in (truths, values))
    cells = np.bincount(row * VALUE_BINS + column, minlength=VALUE_BINS**2).reshape(VALUE_BINS, VALUE_BINS)
    return PredictedAgainstTrue(edges.tolist(), cells.tolist())


def residuals(values: Array, truths: Array) -> Residuals:
    """Predicted minus true: a histogram, and quantiles by the size of the prediction."""
    errors = values - truths
    edges = _edges(errors)
    groups = min(GROUPS, max(1, len(values) // GROUP_ROWS))
    parts = np.array_split(np.argsort(values, kind="stable"), groups)
    low, median, high = (np.array([np.quantile(errors[part], q) for part in parts]) for q in (0.1, 0.5, 0.9))
    return Residuals(
        edges.tolist(),
        np.bincount(_bins(errors, edges), minlength=VALUE_BINS).tolist(),
        [float(np.mean(values[part])) for part in parts],
        low.tolist(),
        median.tolist(),
        high.tolist(),
    )


def _edges(values: Array) -> Array:
    low, high = np.quantile(values, [CUT_OFF, 1 - CUT_OFF])
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, VALUE_BINS + 1)


def _bins(values: Array, edges: Array) -> Array:
    return np.clip(np.searchsorted(edges, values, "right") - 1, 0, VALUE_BINS - 1)
