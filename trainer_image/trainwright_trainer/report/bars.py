"""Small bar charts of the feature summaries, and of the tokens of a set."""

from __future__ import annotations

from trainwright_trainer.callbacks import formats
from trainwright_trainer.features.distribution import Frequencies, Histogram
from trainwright_trainer.report.data import TokenCounts
from trainwright_trainer.report.markup import Markup, element, join, number
from trainwright_trainer.report.plot import drawing, line, text

MOST_NAMED = 6
_WIDTH = 300.0


def histogram(name: str, found: Histogram) -> Markup:
    """Upright bars without gaps; below them the left edge of the first bin and the right edge of the last."""
    base, room = 44.0, 38.0
    most = max([*found.rows, 1])
    width = _WIDTH / len(found.rows)
    tops = (
        f"M{number(i * width)} {number(base)}v{number(-room * n / most)}h{number(width - 1)}v{number(room * n / most)}"
        for i, n in enumerate(found.rows)
    )
    ends = join(
        text(0, base + 14, formats.shorten(found.low, 22), "tick"),
        text(_WIDTH, base + 14, formats.shorten(found.high, 22), "tick end"),
    )
    shape = element("path", d="".join(tops), class_="bar")
    return drawing(_WIDTH, base + 20, f"Distribution of {name}", shape, line(0, base, _WIDTH, base, "axis"), ends)


def frequencies(name: str, found: Frequencies) -> Markup:
    """Horizontal bars, each with its value and its share of the rows; one line sums up the values that are left out."""
    shown, left = found.values[:MOST_NAMED], found.values[MOST_NAMED:]
    whole = max(1, found.rows)
    most = max([*(rows for _, rows in shown), 1])
    lines = [_row(index, value, rows / whole, rows / most) for index, (value, rows) in enumerate(shown)]
    if more := len(left) + found.more_values:
        share = (sum(rows for _, rows in left) + found.more_rows) / whole
        words = f"and {formats.counted(more, 'more value')}: {formats.percent(share)}"
        lines.append(text(0, 17 * len(shown) + 11, words, "tick"))
    return drawing(_WIDTH, 17 * len(lines), f"Frequencies of {name}", *lines)


def tokens(name: str, counts: TokenCounts) -> Markup:
    """A bar for the rows with each token, its dark part for those in which it is predicted, and their share."""
    most = max([*counts.true, 1])
    rows = enumerate(zip(counts.tokens, counts.true, counts.both, strict=True))
    lines = [_found(17.0 * index, token, true / most, both / max(true, 1)) for index, (token, true, both) in rows]
    return drawing(_WIDTH, 17 * len(lines), f"Tokens of {name} that are found", *lines)


def _found(y: float, token: str, length: float, share: float) -> Markup:
    width = max(1.0, 148 * length)
    light = element("rect", x=104, y=y + 3, width=width, height=10, class_="cell", fill_opacity=0.25)
    dark = element("rect", x=104, y=y + 3, width=width * share, height=10, class_="bar")
    label = text(0, y + 11, formats.shorten(token, 17), "tick ink")
    return join(label, light, dark, text(_WIDTH, y + 11, formats.percent(share), "tick end"))


def _row(index: int, label: str, share: float, length: float) -> Markup:
    y = 17.0 * index
    bar = element("rect", x=104, y=y + 3, width=max(1.0, 148 * length), height=10, class_="bar")
    name = text(0, y + 11, formats.shorten(label, 17), "tick ink")
    return join(name, bar, text(_WIDTH, y + 11, formats.percent(share), "tick end"))
