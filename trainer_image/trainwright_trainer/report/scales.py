"""Maps the units of the data to the units of a drawing, and chooses the round numbers on an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from trainwright_trainer.callbacks import formats

# Beyond this ratio of the greatest to the smallest value, a linear axis hides most of a curve.
LOG_RATIO = 100.0


@dataclass(frozen=True)
class Scale:
    """Maps [low, high] of the data to [start, stop] of the drawing, linearly or by the logarithm."""

    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, here = (math.log10(x) if self.log else x for x in (self.low, self.high, value))
        # Large numbers may differ by less than a float holds.
        share = (here - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.stop - self.start)

    def ticks(self, wanted: int = 5) -> list[float]:
        """Round values inside [low, high], about as many as `wanted`."""
        return _decades(self.low, self.high, wanted) if self.log else steps(self.low, self.high, wanted)

    def label(self, tick: float) -> str:
        """The tick as text, with as many decimals as its neighbours need."""
        return tick_label(tick, self.ticks())


def fitted(values: Sequence[float], start: float, stop: float, *, log: bool | None = None) -> Scale:
    """A scale that shows all values with a margin; logarithmic if they span more than two decades."""
    known = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(known), max(known)
    if log is None:
        log = low > 0 and high / low > LOG_RATIO
    if log:
        return Scale(low / 1.2, high * 1.2, start, stop, log=True)
    air = (high - low) * 0.06 or abs(high) * 0.1 or 0.5
    return Scale(low - air if low < 0 or low > air else 0.0, high + air, start, stop)


def steps(low: float, high: float, wanted: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten inside [low, high]."""
    raw = (high - low) / max(1, wanted)
    if not raw > 0 or not math.isfinite(raw):
        return [low]
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(multiple * power for multiple in (1, 2, 5, 10) if multiple * power >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [index * step for index in range(first, last + 1)]


def whole_steps(low: float, high: float, wanted: int) -> list[float]:
    """The same, but whole numbers only: epochs."""
    inside = [tick for tick in steps(low, high, wanted) if abs(tick - round(tick)) < 1e-9]
    return inside or [float(math.ceil(low))]


def tick_label(tick: float, ticks: Sequence[float]) -> str:
    """`0.25`, `12,000`, `1e-05`."""
    size = max(abs(value) for value in ticks)
    if size >= 1e7 or (0 < size < 1e-3):
        return f"{tick:.3g}".replace("e+0", "e").replace("e-0", "e-")
    if size >= 20_000:
        return formats.rate(tick) if tick >= 0 else f"-{formats.rate(-tick)}"
    return f"{tick:,.{_decimals(ticks)}f}"


def _decimals(ticks: Sequence[float]) -> int:
    """The fewest decimals that show every tick exactly, six at most."""
    return next((d for d in range(6) if all(abs(round(tick, d) - tick) < 1e-9 * 10**-d for tick in ticks)), 6)


def _decades(low: float, high: float, wanted: int) -> list[float]:
    """Powers of ten; with less than two of them, also their multiples of 2 and 5, or the steps of a linear axis."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last > first:
        stride = max(1, math.ceil((last - first + 1) / wanted))
        return [10.0**exponent for exponent in range(first, last + 1, stride)]
    multiples = [factor * 10.0**power for power in range(first - 1, last + 1) for factor in (1, 2, 5)]
    inside = [tick for tick in multiples if low <= tick <= high]
    return inside if len(inside) > 1 else steps(low, high, wanted)
