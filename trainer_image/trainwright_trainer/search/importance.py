"""The importance of a parameter: the share of the variance of the scores that its value explains.

It is the adjusted share of a one-way analysis of variance (epsilon squared, Kelley 1935): numbers are divided into
four groups of equal size, other values are their own groups. Interactions of parameters are not seen.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from statistics import fmean
from typing import Any

from trainwright_trainer.search.trials import Trial

GROUPS = 4
FEWEST = 8
"""With fewer trials, the estimate says nothing."""


def importance(trials: Sequence[Trial]) -> Mapping[str, float]:
    """The share of each parameter, 0 to 1, the largest first; empty with few trials, or if all scores are equal."""
    known = [trial for trial in trials if math.isfinite(trial.score)]
    if len(known) < FEWEST:
        return {}
    scores = [trial.score for trial in known]
    found = {name: _share([trial.values.get(name) for trial in known], scores) for name in known[0].values}
    shares = {name: share for name, share in found.items() if share is not None}
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def _share(values: Sequence[Any], scores: Sequence[float]) -> float | None:
    """None if the value or the score does not vary, or if every trial has a value of its own."""
    groups: dict[Hashable, list[float]] = defaultdict(list)
    for group, score in zip(_groups(values), scores, strict=True):
        groups[group].append(score)
    mean, rows, count = fmean(scores), len(scores), len(groups)
    total = sum((score - mean) ** 2 for score in scores)
    if count < 2 or count >= rows or not total:
        return None
    within = sum((score - fmean(members)) ** 2 for members in groups.values() for score in members)
    return max(0.0, 1 - (within / total) * (rows - 1) / (rows - count))


def _groups(values: Sequence[Any]) -> list[Hashable]:
    """The group of each value."""
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return [json.dumps(value, sort_keys=True, default=str) for value in values]
    distinct = sorted(set(values))
    if len(distinct) <= GROUPS:
        return list(values)
    ordered = sorted(values)
    edges = [ordered[len(ordered) * group // GROUPS] for group in range(1, GROUPS)]
    return [sum(value >= edge for edge in edges) for value in values]
