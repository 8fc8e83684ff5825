"""The section on permutation importance: a bar for each input, with its interval."""

from __future__ import annotations

from collections.abc import Sequence

from trainwright_trainer.callbacks import formats
from trainwright_trainer.report.data import FeatureImportance, Importance, ReportData
from trainwright_trainer.report.markup import Markup, element, join
from trainwright_trainer.report.plot import drawing, line, text
from trainwright_trainer.report.scales import Scale
from trainwright_trainer.report.tables import figure, section

MOST_BARS = 20
_WIDTH, _LEFT, _RIGHT, _ROW = 340.0, 112.0, 72.0, 20.0


def importance(data: ReportData) -> Markup | None:
    """One chart for each output."""
    found = data.importance
    if found is None:
        return None
    repeats = formats.counted(found.repeats, "permutation")
    note = element(
        "p",
        f"The rise of the mean loss if the values of one input are permuted among {formats.count(found.rows)} "
        f"{found.part} rows: the mean of {repeats}. Thin lines are 95 % intervals. Inputs that say the same can stand "
        "in for each other, so that each alone looks unimportant.",
        class_="note",
    )
    charts = [figure(_title(one, len(found.outputs)), bars(one), _caption(one)) for one in found.outputs]
    return section("Importance of the inputs", note, element("div", *charts, class_="grid"))


def bars(found: Importance) -> Markup:
    """Horizontal bars, the most important input first."""
    shown = found.features[:MOST_BARS]
    x = _scale(shown)
    rows = [_row(index, one, found.loss, x) for index, one in enumerate(shown)]
    zero = line(x(0), 0, x(0), _ROW * len(shown), "axis")
    return drawing(_WIDTH, _ROW * max(len(shown), 1), f"Importance of the inputs for {found.output}", *rows, zero)


def _scale(shown: Sequence[FeatureImportance]) -> Scale:
    ends = [end for one in shown for end in (one.rise, one.low, one.high) if end == end]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    return Scale(low, high if high > low else low + 1.0, _LEFT, _WIDTH - _RIGHT)


def _row(index: int, one: FeatureImportance, loss: float, x: Scale) -> Markup:
    y = _ROW * index + _ROW / 2
    start, end = sorted((x(0), x(one.rise)))
    bar = element("rect", x=start, y=y - 6, width=max(1.0, end - start), height=12, class_="bar")
    known = one.low == one.low
    whisker = line(x(one.low), y, x(one.high), y, "whisker") if known else None
    change = _percent(one.rise / loss) if loss > 0 else formats.score(one.rise)
    name = text(0, y + 3.5, formats.shorten(one.feature, 18), "tick ink")
    return join(name, bar, whisker, text(_WIDTH, y + 3.5, change, "tick end"))


def _percent(part: float) -> str:
    return f"{part * 100:+,.1f} %" if abs(part) < 1 else f"{part * 100:+,.0f} %"


def _title(found: Importance, outputs: int) -> str:
    return "Rise of the loss" if outputs == 1 else f"Rise of the loss of {formats.shorten(found.output, 40)}"


def _caption(found: Importance) -> str:
    left = len(found.features) - MOST_BARS
    more = f" {formats.counted(left, 'less important input')} not drawn." if left > 0 else ""
    sure = [one for one in found.features if one.low > 0]
    beyond = f"{len(sure)} of {len(found.features)} inputs raise it for sure"
    few = f"The loss is {formats.score(found.loss)} before; {beyond}."
    if not found.features or found.metric == "loss":
        return f"{few}{more}"
    first = found.features[0]
    change = f"{found.metric} {formats.score(found.score)} → {formats.score(first.score)}"
    return f"Without {formats.shorten(first.feature, 30)}: {change}. {few}{more}"
