"""Figures of counts in a grid: the confusion matrix, and predicted against true."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from trainwright_trainer.callbacks import formats
from trainwright_trainer.report.data import ConfusionMatrix, PredictedAgainstTrue
from trainwright_trainer.report.markup import Markup, element, join
from trainwright_trainer.report.plot import SQUARE, axes, drawing, line, text
from trainwright_trainer.report.scales import Scale

# Ink stays readable on the accent colour up to this tint, on paper and in dark mode.
DARKEST = 0.55


@dataclass(frozen=True)
class _Look:
    """The appearance of a matrix by its number of classes: width of the figure, characters of a label, and text
    of a cell."""

    width: float
    characters: int
    counts: bool
    font: str


def _look(classes: int) -> _Look:
    if classes <= 5:
        return _Look(340, 11, True, "")
    return _Look(480, 12, False, "small") if classes <= 12 else _Look(760, 12, False, "tiny")


def confusion(name: str, matrix: ConfusionMatrix) -> Markup:
    """True classes down, predicted classes across; text and tint of a cell show its share of the row."""
    classes = len(matrix.labels)
    look = _look(classes)
    left, top = 20 + look.characters * 6.4, 22.0
    size = (look.width - left - 4) / max(1, classes)
    high = min(size, 84.0 if look.counts else 46.0)
    cells = [
        _cell(left + column * size, top + row * high, size, high, count, sum(counts), look)
        for row, counts in enumerate(matrix.counts)
        for column, count in enumerate(counts)
        if count
    ]
    bottom = top + classes * high
    labels = [formats.shorten(label, look.characters) for label in matrix.labels]
    down = (
        text(left - 6, top + (i + 0.5) * high + 3.5, label, f"label end {look.font}") for i, label in enumerate(labels)
    )
    slanted = classes > 3
    across = (_below(left + (i + 0.5) * size, bottom + 14, label, slanted) for i, label in enumerate(labels))
    height = bottom + (look.characters * 4.9 + 12 if slanted else 20) + 18
    frame = element("rect", x=left, y=top, width=size * classes, height=high * classes, class_="frame")
    names = (
        text(left - 6, 12, "true ↓", "name end"),
        text(left + size * classes / 2, height - 5, "predicted →", "name middle"),
    )
    title = f"Confusion matrix of {name}"
    return drawing(look.width, height, title, *cells, frame, *down, *across, *names, wide=classes > 5)


def _cell(x: float, y: float, width: float, height: float, count: int, of: int, look: _Look) -> Markup:
    share = count / of
    tint = element("rect", x=x, y=y, width=width, height=height, class_="cell", fill_opacity=share * DARKEST)
    middle = x + width / 2
    if not look.counts:
        words = f"{share * 100:.0f}" if share >= 0.005 else "·"
        return join(tint, text(middle, y + height / 2 + 3.5, words, f"value {look.font}"))
    return join(
        tint,
        text(middle, y + height / 2 - 2, formats.percent(share), "value"),
        text(middle, y + height / 2 + 12, formats.count(count), "value small"),
    )


def _below(x: float, y: float, label: str, slanted: bool) -> Markup:
    turn = f"rotate(-42 {x:.1f} {y:.1f})" if slanted else None
    return element("text", label, x=x, y=y, class_="label " + ("end" if slanted else "middle"), transform=turn)


def predicted_against_true(name: str, histogram: PredictedAgainstTrue) -> Markup:
    """A grid in the target's own units, darker for more rows; the diagonal is a perfect prediction."""
    edges = histogram.edges
    x, y = Scale(edges[0], edges[-1], *SQUARE.x), Scale(edges[0], edges[-1], *SQUARE.y)
    most = max((count for row in histogram.counts for count in row), default=0) or 1
    cells = [
        _tile(x, y, edges, row, column, math.sqrt(count / most))
        for row, counts in enumerate(histogram.counts)
        for column, count in enumerate(counts)
        if count
    ]
    short = formats.shorten(name, 28)
    frame = axes(SQUARE, x, y, f"true {short}", f"predicted {short}")
    guide = line(x(edges[0]), y(edges[0]), x(edges[-1]), y(edges[-1]), "guide")
    return drawing(SQUARE.width, SQUARE.height, f"Predicted against true values of {name}", frame, *cells, guide)


def _tile(x: Scale, y: Scale, edges: Sequence[float], row: int, column: int, tint: float) -> Markup:
    left, right, bottom, top = x(edges[row]), x(edges[row + 1]), y(edges[column]), y(edges[column + 1])
    return element(
        "rect", x=left, y=top, width=right - left, height=bottom - top, class_="cell", fill_opacity=0.08 + 0.9 * tint
    )
