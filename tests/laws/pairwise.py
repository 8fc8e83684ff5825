"""A table in which every pair of values of any two factors occurs in some row."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

Row = Mapping[str, Any]
_CANDIDATES = 60


def pairwise(factors: Mapping[str, Sequence[Any]], allowed: Callable[[Row], bool]) -> list[dict[str, Any]]:
    """Rows with one value of each factor, such that every allowed pair occurs. The same factors give the same rows.

    Each row is the best of some random candidates, each of which contains a pair that is still missing.
    """
    draws = random.Random(0)
    missing = _pairs(factors, allowed)
    rows: list[dict[str, Any]] = []
    while missing:
        (one, a), (other, b) = min(missing, key=repr)
        candidates = []
        while len(candidates) < _CANDIDATES:
            row = {name: draws.choice(values) for name, values in factors.items()} | {one: a, other: b}
            if allowed(row):
                candidates.append(row)
        best = max(candidates, key=lambda row: len(_pairs_of(row) & missing))
        rows.append(best)
        missing -= _pairs_of(best)
    return rows


def _pairs(factors: Mapping[str, Sequence[Any]], allowed: Callable[[Row], bool]) -> set[Any]:
    """All pairs that some row may have. A factor's first value fits with everything."""
    base = {name: values[0] for name, values in factors.items()}
    return {
        ((one, a), (other, b))
        for one, other in combinations(factors, 2)
        for a in factors[one]
        for b in factors[other]
        if allowed({**base, one: a, other: b})
    }


def _pairs_of(row: Row) -> set[Any]:
    return set(combinations(row.items(), 2))
