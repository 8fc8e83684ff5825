"""Figures of probabilities: the ROC curve and the reliability diagram."""

from __future__ import annotations

from dataclasses import replace

from trainwright_trainer.report.data import Calibration, RocCurve
from trainwright_trainer.report.markup import Markup, element, join
from trainwright_trainer.report.plot import SQUARE, Box, axes, dots, drawing, line, path, text, unit_scales
from trainwright_trainer.report.scales import Scale

BINS = 10


def roc(name: str, curve: RocCurve) -> Markup:
    """True positive rate over false positive rate, and the diagonal of a random guess."""
    x, y = unit_scales()
    points = [(x(a), y(b)) for a, b in zip(curve.false_positive_rate, curve.true_positive_rate, strict=True)]
    return drawing(
        SQUARE.width,
        SQUARE.height,
        f"ROC curve of {name}",
        axes(SQUARE, x, y, "false positive rate", "true positive rate"),
        line(x(0), y(0), x(1), y(1), "guide"),
        text(x(0.62), y(0.55), "a guess", "tick"),
        path(points, "line validation"),
    )


def calibration(name: str, bins: Calibration) -> Markup:
    """The observed share over the predicted probability, and below it the number of rows in each bin."""
    box = replace(SQUARE, bottom=98)
    x, y = Scale(0, 1, *box.x), Scale(0, 1, *box.y)
    known = [(x(p), y(o)) for p, o, rows in zip(bins.predicted, bins.observed, bins.rows, strict=True) if rows]
    return drawing(
        box.width,
        box.height,
        f"Calibration of {name}",
        axes(box, x, y, "predicted probability", "share that came true"),
        line(x(0), y(0), x(1), y(1), "guide"),
        text(x(0.86), y(0.92), "perfect", "tick end"),
        path(known, "line validation") if len(known) > 1 else None,
        dots(known, "dot validation", 3.5),
        _rows(bins, box),
    )


def _rows(bins: Calibration, box: Box) -> Markup:
    base, room = box.height - 6, 36
    most = max([*bins.rows, 1])
    width = (box.x[1] - box.x[0]) / BINS
    # Bins without rows may be left out, so the mean prediction of a bin gives its position.
    heights = [
        (min(int(p * BINS), BINS - 1), room * n / most) for p, n in zip(bins.predicted, bins.rows, strict=True) if n
    ]
    bars = (
        element("rect", x=box.left + i * width + 1, y=base - h, width=width - 2, height=h, class_="bar")
        for i, h in heights
    )
    return join(*bars, line(*(box.x[0], base), *(box.x[1], base), "axis"), text(2, base - 2, "rows", "tick"))
