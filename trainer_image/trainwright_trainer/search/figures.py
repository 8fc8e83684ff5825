"""The figures of a search: trials over time, parallel coordinates, importance, and the curves of the best trials."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from statistics import median
from typing import Any

from trainwright_trainer.callbacks import formats
from trainwright_trainer.report.markup import Markup, element, join
from trainwright_trainer.report.plot import Box, Points, apart, axes, dots, drawing, line, path, text
from trainwright_trainer.report.scales import Scale, fitted, tick_label, whole_steps
from trainwright_trainer.search import words
from trainwright_trainer.search.objective import Objective
from trainwright_trainer.search.trials import Trial

_BOX = Box(width=460, height=240, left=46, right=40)
_AXIS, _TOP, _BOTTOM, _EDGE = 150.0, 40.0, 250.0, 75.0
MAX_CHARACTERS = 23
LABELLED = 5
# A trial further from the median than so many times the distance of the best one would hide the others.
_FAR = 4.0


def shown_scores(scores: Sequence[float], objective: Objective) -> list[float]:
    """The scores as they are drawn: one that is much worse than the others is moved to the edge of the figure."""
    ordered = sorted(scores, key=objective.key)
    best, middle = ordered[0], median(scores)
    least = middle - _FAR * (best - middle)
    worst = least if best != middle and objective.key(least) < objective.key(ordered[-1]) else ordered[-1]
    return [score if objective.key(score) <= objective.key(worst) else worst for score in scores]


def over_time(trials: Sequence[Trial], objective: Objective) -> Markup:
    """The score of each trial over the time of its last round, and the best score so far as a line."""
    known = sorted((trial.last[1], trial.score) for trial in trials if math.isfinite(trial.score))
    drawn = shown_scores([score for _, score in known], objective)
    x, y = fitted([at for at, _ in known], *_BOX.x, log=False), fitted(drawn, *_BOX.y)
    best, steps = drawn[0], [(x(known[0][0]), y(drawn[0]))]
    for (at, _), score in zip(known, drawn, strict=True):
        steps.append((x(at), y(best)))
        best = min(best, score, key=objective.key)
        steps.append((x(at), y(best)))
    frame = axes(_BOX, x, y, "seconds since the search began", objective.metric)
    points = [(x(at), y(score)) for (at, _), score in zip(known, drawn, strict=True)]
    return drawing(
        _BOX.width,
        _BOX.height,
        "Trials over time",
        frame,
        path(steps, "line other"),
        dots(points, "dot validation", 3.5),
    )


def parallel(
    trials: Sequence[Trial], objective: Objective, best: Sequence[Trial], logarithmic: Collection[str]
) -> Markup:
    """One line for each trial through its values and its score. The lines of `best` are on top, in colour.

    `logarithmic`: the parameters whose search space is logarithmic.
    """
    known = [trial for trial in trials if math.isfinite(trial.score)]
    names = list(known[0].values)
    scales = [_scale([trial.values.get(name) for trial in known], log=name in logarithmic) for name in names]
    drawn = shown_scores([trial.score for trial in known], objective)
    score = fitted(drawn, _BOTTOM, _TOP)
    at = [_EDGE + _AXIS * position for position in range(len(names) + 1)]
    lines: dict[str, Points] = {}
    for trial, end in zip(known, drawn, strict=True):
        heights = [place(trial.values.get(name)) for name, (place, _) in zip(names, scales, strict=True)]
        lines[trial.id] = list(zip(at, [*heights, score(end)], strict=True))
    front = [trial.id for trial in reversed(best)]
    others = [path(points, "line other") for name, points in lines.items() if name not in front]
    ends = [(score(tick), score.label(tick)) for tick in score.ticks()]
    columns = [*zip(at[:-1], names, [ticks for _, ticks in scales], strict=True), (at[-1], objective.metric, ends)]
    heads = words.short_names(names)
    labels = [_column(where, heads.get(name, name), ticks) for where, name, ticks in columns]
    coloured = [path(lines[name], "line validation") for name in front]
    return drawing(at[-1] + _EDGE, _BOTTOM + 20, "Parallel coordinates", *others, *coloured, *labels, wide=True)


def bars(shares: Mapping[str, float]) -> Markup:
    """One bar for each parameter, below its name."""
    rows = []
    for position, (name, share) in enumerate(shares.items()):
        y = 36.0 * position
        label = text(0, y + 11, formats.shorten(name, 70), "tick ink")
        bar = element("rect", x=0, y=y + 16, width=max(1.0, 400 * share), height=11, class_="bar")
        rows.append(join(label, bar, text(6 + 400 * share, y + 25, formats.percent(share), "tick")))
    return drawing(_BOX.width, 36.0 * len(shares), "Importance of the parameters", *rows)


def curves(found: Mapping[str, Points], objective: Objective) -> Markup:
    """The metric by epoch of each of the best trials; the best one, the first, is in colour."""
    points = [point for one in found.values() for point in one]
    x = Scale(min(at for at, _ in points), max(2.0, *(at for at, _ in points)), *_BOX.x)
    shown = dict(zip((v for _, v in points), shown_scores([v for _, v in points], objective), strict=True))
    y = fitted(list(shown.values()), *_BOX.y)
    drawn = {name: [(x(at), y(shown[value])) for at, value in one] for name, one in found.items()}
    first = next(iter(drawn))
    lines = [path(one, "line validation" if name == first else "line other") for name, one in reversed(drawn.items())]
    bottom, top = _BOX.y
    ends = dict(list(drawn.items())[:LABELLED])
    places = apart([one[-1][1] for one in ends.values()], 11, top, bottom)
    named = zip(ends.items(), places, strict=True)
    labels = [text(one[-1][0] + 6, place + 3.5, name, "tick") for (name, one), place in named]
    frame = axes(_BOX, x, y, "epoch", objective.metric, whole_steps(x.low, x.high, 8))
    marks = [dots(one, "dot validation") for one in drawn.values() if len(one) == 1]
    return drawing(_BOX.width, _BOX.height, "Learning curves of the best trials", frame, *lines, *marks, *labels)


Place = Callable[[Any], float]
Ticks = Sequence[tuple[float, str]]


def _scale(values: Sequence[Any], *, log: bool) -> tuple[Place, Ticks]:
    """The height of each value: of numbers on a scale, of other values by their order of appearance.

    Numbers from a space that is not logarithmic are on a logarithmic scale too if they span decades.
    """
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        scale = fitted(values, _BOTTOM, _TOP, log=(log and min(values) > 0) or None)  # a given point may be 0
        if scale.log:
            return scale, [(scale(tick), tick_label(tick, [tick])) for tick in scale.ticks()]
        are_whole = all(isinstance(value, int) for value in values)
        ticks = whole_steps(scale.low, scale.high, 5) if are_whole else scale.ticks()
        return scale, [(scale(tick), tick_label(tick, ticks)) for tick in ticks]
    shown = [words.value(value) for value in values]
    distinct = list(dict.fromkeys(shown))
    gap = (_BOTTOM - _TOP) / (len(distinct) + 1)
    heights = {name: _BOTTOM - gap * (position + 1) for position, name in enumerate(distinct)}
    return lambda value: heights[words.value(value)], [(height, name) for name, height in heights.items()]


def _column(at: float, name: str, ticks: Ticks) -> Markup:
    head = name if len(name) <= MAX_CHARACTERS else f"…{name[-MAX_CHARACTERS + 1 :]}"
    marks = [
        join(line(at - 3, y, at + 3, y, "axis"), text(at + 6, y + 3.5, formats.shorten(label, 14), "tick halo"))
        for y, label in ticks
    ]
    return join(line(at, _TOP, at, _BOTTOM, "axis"), text(at, 16, head, "name middle"), *marks)
