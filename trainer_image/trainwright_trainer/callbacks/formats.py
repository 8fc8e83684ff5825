"""Number and time formats for people, in one place, so that terminal and report agree."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from trainwright_api.config.metric_names import METRICS

NOTHING = "–"
_ERRORS = {name for metrics in METRICS.values() for name, direction in metrics.items() if direction == "min"}
# Replacements for a stream that cannot write UTF-8: one character for one, so that nothing moves.
_PLAIN_SIGNS = str.maketrans("·→–…▼▲━╸─", "->-.v^=-.")


def count(number: int) -> str:
    """Rows, steps, bytes: `336,776`."""
    return f"{number:,}"


def counted(number: int, noun: str) -> str:
    """`1 process`, `2 processes`, `14 inputs`."""
    ending = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{ending}"


def share(fraction: float) -> str:
    """`68 %`; rounded down, so that it shows 100 % only at the end."""
    if not math.isfinite(fraction):
        return NOTHING
    return f"{math.floor(fraction * 100 + 1e-9)} %"


def percent(fraction: float) -> str:
    """For reports, with one decimal below 10 %: `1.2 %`, `68 %`, `100 %`."""
    if not math.isfinite(fraction):
        return NOTHING
    hundredths = fraction * 100
    if 0 < abs(hundredths) < 0.1:
        return "< 0.1 %"
    return f"{hundredths:.1f}".removesuffix(".0") + " %" if abs(hundredths) < 10 else f"{hundredths:.0f} %"


def clock(seconds: float) -> str:
    """`0:00:24`, `1:02:03`; whole seconds, rounded up, so that it never shows 0 while there is work."""
    if not math.isfinite(seconds):
        return "-:--:--"
    whole = max(0, math.ceil(seconds))
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def duration(seconds: float) -> str:
    """`0.4 s`, `31 s`, `0:02:05`, `1:02:03`."""
    if not math.isfinite(seconds):
        return NOTHING
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    return clock(round(seconds))


def part_of_step(seconds: float) -> str:
    """`0.4 ms`, `48 ms`, `1.2 s`."""
    thousandths = seconds * 1000
    return f"{_three_digits(thousandths, decimals=True)} ms" if thousandths < 999.5 else duration(seconds)


def memory(size: int) -> str:
    """`812 MB`, `1.4 GB`; decimal units, as disks and GPUs are sold."""
    return f"{_three_digits(size / 1e9, decimals=True)} GB" if size >= 999.5e6 else f"{size / 1e6:.0f} MB"


def rate(per_second: float) -> str:
    """`812`, `9.5k`, `201k`, `1.2M`; the caller adds the unit."""
    if not math.isfinite(per_second):
        return NOTHING
    for limit, divisor, sign in ((999.5, 1, ""), (999_500, 1e3, "k"), (999.5e6, 1e6, "M"), (math.inf, 1e9, "G")):
        if per_second < limit:
            return _three_digits(per_second / divisor, decimals=sign != "") + sign
    raise AssertionError("the last limit is infinite")


def _three_digits(value: float, *, decimals: bool) -> str:
    return f"{value:.1f}" if decimals and value < 9.95 else f"{value:.0f}"


def score(value: float) -> str:
    """Four significant digits, four decimals at most, thousands separators: `0.7421`, `48.31`, `12,345`, `3.2e-05`."""
    if not math.isfinite(value):
        return NOTHING
    size = abs(value)
    if 0 < size < 0.001:
        return f"{value:.2g}"
    if size >= 1e9:
        return f"{value:.3e}"
    return f"{value:,.{max(0, 4 - max(1, len(str(int(size))))) if size >= 1 else 4}f}"


def rate_of_learning(value: float) -> str:
    """`0.001`, `2e-05`."""
    return f"{value:.4g}"


def metric_name(name: str, outputs: Collection[str]) -> str:
    """`late.roc_auc` as people read it: with only one output, `roc_auc`."""
    return name.rpartition(".")[2] if len(outputs) == 1 else name


def lower_is_better(metric: str) -> bool:
    """True if a metric is an error, which should fall."""
    return metric in _ERRORS


def wrap(items: Sequence[str], width: int, *, separator: str = " · ") -> list[str]:
    """Join items into lines of at most `width` characters, breaking between items; a longer item is cut with `…`."""
    lines: list[str] = []
    for item in items:
        joined = f"{lines[-1]}{separator}{item}" if lines else item
        if lines and len(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(shorten(item, width))
    return lines


def shorten(text: str, width: int) -> str:
    """The text, or its start and `…` if it is longer than `width`."""
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"


def encodable(text: str, encoding: str | None) -> str:
    """The text with every character replaced that the encoding lacks; control characters (of names) become `?`."""
    safe = "".join(sign if sign.isprintable() else "?" for sign in text)
    try:
        safe.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        name = encoding or "utf-8"
        return safe.translate(_PLAIN_SIGNS).encode(name, errors="replace").decode(name)
    return safe
