"""Small bar charts of the feature summaries."""

from __future__ import annotations

from collections.abc import Sequence

from trainwright_trainer.progress import formats
from trainwright_trainer.report.markup import Markup, element, join, number
from trainwright_trainer.report.plot import drawing, line, text

Bars = Sequence[tuple[str, int]]
MOST_NAMED = 6
_WIDTH = 300.0


def histogram(name: str, bars: Bars) -> Markup:
    """Upright bars in their given order, without gaps; the first and the last label stand below."""
    base, room = 44.0, 38.0
    most = max([*(count for _, count in bars), 1])
    width = _WIDTH / len(bars)
    tops = (
        f"M{number(i * width)} {number(base)}v{number(-room * n / most)}h{number(width - 1)}v{number(room * n / most)}"
        for i, (_, n) in enumerate(bars)
    )
    ends = join(
        text(0, base + 14, formats.shorten(bars[0][0], 22), "tick"),
        text(_WIDTH, base + 14, formats.shorten(bars[-1][0], 22), "tick end"),
    )
    shape = element("path", d="".join(tops), class_="bar")
    return drawing(_WIDTH, base + 20, f"Distribution of {name}", shape, line(0, base, _WIDTH, base, "axis"), ends)


def named(name: str, bars: Bars) -> Markup:
    """Lying bars, the most frequent first, each with its label and share; what is left is told in one line."""
    total = sum(count for _, count in bars) or 1
    shown = sorted(bars, key=lambda bar: -bar[1])[:MOST_NAMED]
    rest = len(bars) - len(shown)
    most = max([*(count for _, count in shown), 1])
    rows = [_row(index, label, count / total, count / most) for index, (label, count) in enumerate(shown)]
    if rest:
        share = 1 - sum(count for _, count in shown) / total
        rows.append(text(0, 17 * len(shown) + 11, f"and {rest:,} more: {formats.percent(share)}", "tick"))
    return drawing(_WIDTH, 17 * (len(shown) + bool(rest)), f"Frequencies of {name}", *rows)


def _row(index: int, label: str, share: float, length: float) -> Markup:
    y = 17.0 * index
    bar = element("rect", x=104, y=y + 3, width=max(1.0, 148 * length), height=10, class_="bar")
    name = text(0, y + 11, formats.shorten(label, 17), "tick ink")
    return join(name, bar, text(_WIDTH, y + 11, formats.percent(share), "tick end"))
