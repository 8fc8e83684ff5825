"""Figures of the choice of a threshold: precision over recall, both over the threshold, and ROC curves by class."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from trainwright_trainer.callbacks import formats
from trainwright_trainer.report.data import ClassRoc, PrecisionRecall, Thresholds
from trainwright_trainer.report.markup import Markup, element, join
from trainwright_trainer.report.plot import SQUARE, axes, drawing, line, path, text, unit_scales

MOST_CURVES = 6


def precision_recall(name: str, curve: PrecisionRecall) -> Markup:
    """Precision over recall, and the precision of a guess."""
    x, y = unit_scales()
    points = [(x(a), y(b)) for a, b in zip(curve.recall, curve.precision, strict=True)]
    guess = y(curve.positive)
    return drawing(
        SQUARE.width,
        SQUARE.height,
        f"Precision and recall of {name}",
        axes(SQUARE, x, y, "recall", "precision"),
        line(x(0), guess, x(1), guess, "guide"),
        text(x(1), guess + 13 if curve.positive > 0.06 else guess - 4, "a guess", "tick end"),
        path(points, "line validation"),
    )


def precision_recall_caption(curve: PrecisionRecall) -> str:
    guess = formats.score(curve.positive)
    return f"Average precision {formats.score(curve.average_precision)}; a guess has {guess}, the share of positives."


def thresholds(name: str, found: Thresholds) -> Markup:
    """Precision, recall and F1 over the threshold, and the threshold that the model uses."""
    x, y = unit_scales()
    at = [x(one) for one in found.thresholds]
    # Without a row above the threshold there is no precision.
    last = max((i for i, (p, r) in enumerate(zip(found.precision, found.recall, strict=True)) if p or r), default=0)
    curves = {
        "precision": [*zip(at, map(y, found.precision), strict=True)][: last + 1],
        "recall": [*zip(at, map(y, found.recall), strict=True)],
        "F1": [*zip(at, map(y, found.f1), strict=True)],
    }
    used = x(found.used)
    return drawing(
        SQUARE.width,
        SQUARE.height,
        f"Precision, recall and F1 of {name} by threshold",
        axes(SQUARE, x, y, "threshold", "share"),
        line(used, SQUARE.y[0], used, SQUARE.y[1], "best"),
        *(path(points, f"line series{i}") for i, points in enumerate(curves.values())),
        *(join(*legend(110 + 82 * i, 8, [name], i)) for i, name in enumerate(curves)),
    )


def thresholds_caption(found: Thresholds) -> str:
    best = max(range(len(found.f1)), key=found.f1.__getitem__)
    used = min(range(len(found.f1)), key=lambda i: abs(found.thresholds[i] - found.used))
    return (
        f"The model uses {formats.score(found.used)} (upright line): F1 {formats.score(found.f1[used])}. "
        f"F1 is greatest at {formats.score(found.thresholds[best])}: {formats.score(found.f1[best])}."
    )


def class_rocs(name: str, rocs: Sequence[ClassRoc]) -> Markup:
    """The ROC curve of each of the first classes against all others."""
    x, y = unit_scales()
    shown = rocs[:MOST_CURVES]
    curves = [
        path(
            [(x(a), y(b)) for a, b in zip(one.curve.false_positive_rate, one.curve.true_positive_rate, strict=True)],
            f"line series{i}",
        )
        for i, one in enumerate(shown)
    ]
    return drawing(
        SQUARE.width,
        SQUARE.height,
        f"ROC curves of the classes of {name}",
        axes(SQUARE, x, y, "false positive rate", "true positive rate"),
        line(x(0), y(0), x(1), y(1), "guide"),
        *curves,
        *legend(x(0.4), y(0.05) - 15 * (len(shown) - 1), [f"{one.label}  {one.curve.auc:.3f}" for one in shown]),
    )


def class_rocs_caption(rocs: Sequence[ClassRoc]) -> str:
    mean = f"Each class against all others; the mean area of {formats.counted(len(rocs), 'class')} is"
    left = len(rocs) - MOST_CURVES
    more = f" {formats.counted(left, 'more class')} not drawn." if left > 0 else ""
    return f"{mean} {formats.score(fmean(one.curve.auc for one in rocs))}.{more}"


def legend(left: float, top: float, names: Sequence[str], first: int = 0) -> list[Markup]:
    """A sample of each line with its name, one below the other. `first`: the number of the first series."""
    return [
        join(
            element("line", x1=left, y1=top + 15 * i, x2=left + 22, y2=top + 15 * i, class_=f"line series{first + i}"),
            text(left + 28, top + 15 * i + 3.5, formats.shorten(name, 28), "tick ink"),
        )
        for i, name in enumerate(names)
    ]
