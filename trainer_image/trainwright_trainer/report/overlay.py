"""Curves of several runs in one chart. Each run has a colour and a dash of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from trainwright_trainer.callbacks import formats
from trainwright_trainer.report.curves import thinned
from trainwright_trainer.report.markup import Markup, element
from trainwright_trainer.report.plot import Box, Points, axes, drawing, line, path
from trainwright_trainer.report.plot import dots as dots_at
from trainwright_trainer.report.runs import RunRecord
from trainwright_trainer.report.scales import Scale, fitted, whole_steps

MOST_LINES = 6
_BOX = Box(right=14)


def chosen(runs: Sequence[RunRecord]) -> list[str]:
    """The labels of the runs to draw, in their order: all, or the best by the monitored metric of the first run."""
    if len(runs) <= MOST_LINES:
        return [run.label for run in runs]
    name = runs[0].monitored
    sign = 1 if formats.lower_is_better(name.rpartition(".")[2]) else -1
    scores = {run.label: sign * run.validation(name) for run in runs}
    best = sorted(scores, key=lambda label: scores[label] if math.isfinite(scores[label]) else math.inf)[:MOST_LINES]
    return [run.label for run in runs if run.label in best]


def figure(title: str, y_name: str, lines: Mapping[str, Points], styles: Mapping[str, int]) -> Markup:
    """One small chart. `styles`: the number of the style of each line."""
    shown = {label: thinned(points, None) for label, points in lines.items()}
    ends = [at for points in shown.values() for at, _ in points]
    low, high = min(ends), max(ends)
    x = Scale(low - 0.5, high + 0.5, *_BOX.x) if low == high else Scale(low, high, *_BOX.x)
    y = fitted([value for points in shown.values() for _, value in points], *_BOX.y)
    name = f"{y_name} (logarithmic)" if y.log else y_name
    drawn = [
        path([(x(at), y(value)) for at, value in points], f"line series{styles[label]}")
        if len(points) > 1
        else dots_at([(x(at), y(value)) for at, value in points], f"dot series{styles[label]}")
        for label, points in shown.items()
    ]
    return drawing(
        _BOX.width, _BOX.height, title, axes(_BOX, x, y, "epoch", name, whole_steps(x.low, x.high, 6)), *drawn
    )


def key(style: int, label: str) -> Markup:
    """A sample of a line with the label of its run."""
    sample = element("svg", line(0, 5, 26, 5, f"line series{style}"), viewBox="0 0 26 10", role="img", class_="sample")
    return element("span", sample, f" {formats.shorten(label, 60)}", class_="entry")
