"""The parts of every figure: a frame with axes, units and a grid, lines, and labels that do not collide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trainwright_trainer.report.markup import Child, Markup, element, join, number
from trainwright_trainer.report.scales import Scale, tick_label

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Box:
    """The area of a drawing with its margins. A unit is about one pixel on a phone."""

    width: float = 340
    height: float = 220
    left: float = 48
    right: float = 62
    top: float = 30
    bottom: float = 38

    @property
    def x(self) -> tuple[float, float]:
        return self.left, self.width - self.right

    @property
    def y(self) -> tuple[float, float]:
        """The range of y in the drawing, from the bottom up."""
        return self.height - self.bottom, self.top


SQUARE = Box(height=316, right=14, top=24)


def unit_scales() -> tuple[Scale, Scale]:
    """The scales of two shares in `SQUARE`."""
    return Scale(0, 1, *SQUARE.x), Scale(0, 1, *SQUARE.y)


def drawing(width: float, height: float, title: str, *children: Child, wide: bool = False) -> Markup:
    """An `svg` that fills its column, with a title for screen readers.

    A wide one does not shrink below a readable size; the caller puts it into a box that scrolls.
    """
    least = f";min-width:{number(width * 0.9)}px" if wide else ""
    return element(
        "svg",
        element("title", title),
        *children,
        viewBox=f"0 0 {number(width)} {number(height)}",
        role="img",
        class_="wide" if wide else None,
        style=f"max-width:{number(width * 1.25)}px{least}",
    )


def axes(box: Box, x: Scale, y: Scale, x_name: str, y_name: str, x_ticks: Sequence[float] | None = None) -> Markup:
    """Grid lines at the ticks of y, ticks of x, and the names of both, with units."""
    (left, right), (bottom, _) = box.x, box.y
    parts: list[Markup] = []
    y_ticks = y.ticks()
    for tick in y_ticks:
        parts.append(line(left, y(tick), right, y(tick), "grid"))
        parts.append(text(left - 6, y(tick) + 3.5, tick_label(tick, y_ticks), "tick end"))
    shown = x.ticks() if x_ticks is None else x_ticks
    for tick in shown:
        parts.append(line(x(tick), bottom, x(tick), bottom + 4, "axis"))
        parts.append(text(x(tick), bottom + 16, tick_label(tick, shown), "tick middle"))
    parts.append(line(left, bottom, right, bottom, "axis"))
    parts.append(text((left + right) / 2, bottom + 32, x_name, "name middle"))
    parts.append(text(2, 11, y_name, "name"))
    return join(*parts)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def text(x: float, y: float, words: str, class_: str) -> Markup:
    return element("text", words, x=x, y=y, class_=class_)


def path(points: Points, class_: str) -> Markup:
    """A polyline through points of the drawing."""
    return element("path", d="M" + "L".join(f"{number(x)} {number(y)}" for x, y in points), class_=class_)


def dots(points: Points, class_: str, radius: float = 2.5) -> Markup:
    return join(*(element("circle", cx=x, cy=y, r=radius, class_=class_) for x, y in points))


def apart(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The positions, moved as little as possible to be `gap` apart inside [low, high]; the order is kept."""
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    placed: list[float] = []
    for index in order:
        placed.append(max(wanted[index], placed[-1] + gap if placed else low))
    for index in range(len(placed) - 1, -1, -1):
        placed[index] = min(placed[index], high - gap * (len(placed) - 1 - index))
    result = [0.0] * len(wanted)
    for position, index in zip(placed, order, strict=True):
        result[index] = position
    return result
