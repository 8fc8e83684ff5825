"""Figures over training: one metric, train dashed and validation solid, or throughput."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trainwright_trainer.report.markup import Markup, join
from trainwright_trainer.report.plot import Box, Points, apart, axes, dots, drawing, line, path, text
from trainwright_trainer.report.scales import Scale, fitted, whole_steps

MOST_POINTS = 300
# Up to this many rounds, each is drawn as a dot; with more, the line is enough.
MOST_DOTS = 30
_BOX = Box()


@dataclass(frozen=True)
class Curve:
    """A metric by epoch, of one part of the data (`train`, `validation`) or of none (`""`)."""

    part: str
    points: Points


def figure(title: str, y_name: str, curves: Sequence[Curve], best: float | None, *, zero: bool = False) -> Markup:
    """One small chart. `best` is the epoch of the kept model; `zero`: the y axis starts at zero."""
    shown = [Curve(curve.part, thinned(curve.points, best)) for curve in curves]
    x = _epochs([point[0] for curve in shown for point in curve.points], _BOX)
    values = [point[1] for curve in shown for point in curve.points]
    y = fitted([*values, 0.0] if zero else values, *_BOX.y, log=False if zero else None)
    drawn = {curve.part: [(x(at), y(value)) for at, value in curve.points] for curve in shown}
    parts = [_draw(curve_part, points) for curve_part, points in drawn.items()]
    frame = axes(_BOX, x, y, "epoch", f"{y_name} (logarithmic)" if y.log else y_name, whole_steps(x.low, x.high, 6))
    mark = None if best is None else _mark(x(best), best, drawn)
    return drawing(_BOX.width, _BOX.height, title, frame, mark, *parts, _names(drawn))


def thinned(points: Points, keep: float | None) -> Points:
    """At most about 300 of the points: every n-th, the last, and the one at `keep`. NaN and infinity are left out."""
    known = [point for point in points if math.isfinite(point[1])]
    stride = max(1, math.ceil(len(known) / MOST_POINTS))
    last = len(known) - 1
    return [point for i, point in enumerate(known) if i % stride == 0 or i == last or point[0] == keep]


def _epochs(at: Sequence[float], box: Box) -> Scale:
    low, high = min(at, default=0.0), max(at, default=1.0)
    return Scale(low - 0.5, high + 0.5, *box.x) if high == low else Scale(low, high, *box.x)


def _draw(part: str, points: Points) -> Markup:
    kind = "train" if part == "train" else "validation"
    marks = dots(points, f"dot {kind}") if len(points) <= MOST_DOTS else None
    return join(path(points, f"line {kind}") if len(points) > 1 else None, marks)


def _mark(at: float, best: float, drawn: Mapping[str, Points]) -> Markup:
    bottom, top = _BOX.y
    label = f"best: epoch {f'{best:.1f}'.removesuffix('.0')}"
    near_the_end = at > sum(_BOX.x) / 2
    name = text(at - 5 if near_the_end else at + 5, top - 2, label, "tick end" if near_the_end else "tick")
    ring = [point for part, points in drawn.items() if part != "train" for point in points if abs(point[0] - at) < 0.01]
    return join(line(at, bottom, at, top - 8, "best"), name, dots(ring, "ring", 5))


def _names(drawn: Mapping[str, Points]) -> Markup:
    """The name of each line at its end, so that no legend is needed."""
    ends = {part: points[-1] for part, points in drawn.items() if part and points}
    bottom, top = _BOX.y
    places = apart([point[1] for point in ends.values()], 13, top, bottom)
    named = zip(ends.items(), places, strict=True)
    return join(*(text(point[0] + 8, place + 3.5, part, f"label {part}") for (part, point), place in named))
