"""Intervals of the scores of a part, by the bootstrap.

A sample of the rows is cut into random groups, and the groups are drawn again with replacement. The metrics of a group
are a mergeable state, so this works for each type of output, and each row is computed once. With at most `GROUPS` rows
a group is a row, which is the usual bootstrap. The interval of a sample of m of n rows is narrowed by √(m/n).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from trainwright_trainer.analysis.deadline import Deadline
from trainwright_trainer.analysis.subject import Subject
from trainwright_trainer.callbacks.events import Scores
from trainwright_trainer.data.order import Purpose, key
from trainwright_trainer.metrics.base import OutputMetrics
from trainwright_trainer.metrics.model import ModelMetrics
from trainwright_trainer.metrics.resampling import Resampling

MOST_ROWS = 10_000
GROUPS, LEAST_GROUPS = 100, 20
RESAMPLES = 300
TAIL = 0.025

Intervals = Mapping[str, Mapping[str, tuple[float, float]]]


def intervals(subject: Subject, part: int, scores: Scores, deadline: Deadline) -> Intervals:
    """The 95 % interval of each score, by output and metric. `scores`: those of all rows of the part.

    Empty if there are too few rows, or the deadline passes early.
    """
    groups = _groups(subject, part, deadline)
    if len(groups) < LEAST_GROUPS:
        return {}
    rows = sum(_rows_of(group) for group in groups)
    narrowing = (rows / len(subject.data.rows_of(part))) ** 0.5
    found = {}
    for name in subject.new_metrics().outputs:
        if not deadline.passed:
            generator = np.random.default_rng(key(subject.seed, Purpose.REPORT, len(groups)))
            found[name] = _of_output([group.outputs[name] for group in groups], scores[name], narrowing, generator)
    return found


def _rows_of(group: ModelMetrics) -> int:
    return next(iter(group.outputs.values())).folded().rows


def _groups(subject: Subject, part: int, deadline: Deadline) -> list[ModelMetrics]:
    batch = subject.sample(part, subject.affordable(MOST_ROWS))
    if batch is None:
        return []
    edges = np.linspace(0, len(batch.rows), min(GROUPS, len(batch.rows)) + 1).astype(int)
    groups: list[ModelMetrics] = []
    for start, stop in pairwise(edges):
        if deadline.passed:
            break
        group = subject.new_metrics()
        for logits, losses, rows in subject.results(batch.part(slice(start, stop))):
            group.update(logits, losses, rows)
        groups.append(group)
    return groups


def _of_output(
    groups: Sequence[OutputMetrics], scores: Mapping[str, float], narrowing: float, generator: np.random.Generator
) -> dict[str, tuple[float, float]]:
    resampling = Resampling(groups)
    count = len(groups)
    middle = resampling.scores(np.ones(count, dtype=np.int64))
    drawn = [
        resampling.scores(np.bincount(generator.integers(0, count, count), minlength=count)) for _ in range(RESAMPLES)
    ]
    found = {}
    for metric, value in scores.items():
        known = np.array([one[metric] for one in drawn if metric in one])
        if metric in middle and len(known) > RESAMPLES // 2:
            low, high = (np.quantile(known, [TAIL, 1 - TAIL]) - middle[metric]) * narrowing + value
            found[metric] = (float(low), float(high))
    return found
