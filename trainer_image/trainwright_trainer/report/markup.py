"""HTML and SVG as values. Everything that is not `Markup` is text, and text is always escaped."""

from __future__ import annotations

from html import escape

VOID = frozenset({"meta", "br", "hr", "img"})


class Markup(str):
    """Text that is markup already. Only `element` and `join` make it."""

    __slots__ = ()


Child = Markup | str | None
Attribute = str | float | None


def element(name: str, *children: Child, **attributes: Attribute) -> Markup:
    """`<name attribute="…">children</name>`.

    `class_` is `class`, `stroke_width` is `stroke-width`; None leaves a child or an attribute out; numbers keep two
    decimals at most.
    """
    words = [name, *(f'{_name(key)}="{_value(value)}"' for key, value in attributes.items() if value is not None)]
    head = f"<{' '.join(words)}>"
    return Markup(head if name in VOID else f"{head}{join(*children)}</{name}>")


def join(*children: Child) -> Markup:
    """The children one after the other, with text escaped."""
    return Markup("".join(_child(child) for child in children if child is not None))


def _child(child: Markup | str) -> str:
    return child if isinstance(child, Markup) else escape(_clean(child), quote=False)


def _name(key: str) -> str:
    return key.removesuffix("_").replace("_", "-")


def _value(value: str | float) -> str:
    return escape(_clean(value)) if isinstance(value, str) else number(value)


def _clean(text: str) -> str:
    """The text without the control characters and lone surrogates that HTML forbids."""
    return "".join(sign if sign in "\n\t" or sign.isprintable() or sign.isspace() else "\ufffd" for sign in text)


def number(value: float) -> str:
    """A coordinate: `12`, `3.5`, `0.25`."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else str(int(value))
