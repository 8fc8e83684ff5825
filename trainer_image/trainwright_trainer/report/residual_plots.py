"""Figures of the residuals of a number: their distribution, and their spread by the size of the prediction."""

from __future__ import annotations

from trainwright_trainer.callbacks import formats
from trainwright_trainer.report.data import Residuals
from trainwright_trainer.report.markup import Markup, element, number
from trainwright_trainer.report.plot import SQUARE, axes, dots, drawing, line, path
from trainwright_trainer.report.scales import Scale, fitted


def distribution(name: str, found: Residuals) -> Markup:
    """Rows by residual. An upright line marks 0."""
    edges, most = found.edges, max([*found.counts, 1])
    x, y = Scale(edges[0], edges[-1], *SQUARE.x), Scale(0, most * 1.05, *SQUARE.y)
    bars = (
        element("rect", x=x(low), y=y(rows), width=max(0.5, x(high) - x(low) - 1), height=y(0) - y(rows), class_="bar")
        for low, high, rows in zip(edges[:-1], edges[1:], found.counts, strict=True)
        if rows
    )
    zero = line(x(0), SQUARE.y[0], x(0), SQUARE.y[1], "best") if edges[0] < 0 < edges[-1] else None
    frame = axes(SQUARE, x, y, f"predicted minus true {formats.shorten(name, 24)}", "rows")
    return drawing(SQUARE.width, SQUARE.height, f"Residuals of {name}", frame, *bars, zero)


def distribution_caption(found: Residuals) -> str:
    total = sum(found.counts)
    left = sum(rows for high, rows in zip(found.edges[1:], found.counts, strict=True) if high <= 0)
    share = formats.percent(left / total) if total else formats.NOTHING
    return f"About {share} of the predictions are too low. The outermost bars hold what lies beyond."


def by_prediction(name: str, found: Residuals) -> Markup:
    """The median of the residuals, and the range of the middle 80 %, by the size of the prediction."""
    x = fitted(found.predicted, *SQUARE.x, log=False)
    y = fitted([*found.low, *found.high, 0.0], *SQUARE.y, log=False)
    low, median, high = (
        [(x(at), y(value)) for at, value in zip(found.predicted, values, strict=True)]
        for values in (found.low, found.median, found.high)
    )
    corners = "L".join(f"{number(a)} {number(b)}" for a, b in [*low, *reversed(high)])
    short = formats.shorten(name, 24)
    return drawing(
        SQUARE.width,
        SQUARE.height,
        f"Residuals of {name} by prediction",
        axes(SQUARE, x, y, f"predicted {short}", "predicted minus true"),
        element("path", d=f"M{corners}Z", class_="band"),
        line(SQUARE.x[0], y(0), SQUARE.x[1], y(0), "guide"),
        path(median, "line validation") if len(median) > 1 else None,
        dots(median, "dot validation", 3),
    )


def by_prediction_caption(found: Residuals) -> str:
    groups = formats.counted(len(found.predicted), "group")
    return f"{groups} of rows of equal size: the line is the median, the area the middle 80 % of a group."
