"""Tables of the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trainwright_trainer.report.markup import Child, Markup, element


def table(label: str, head: Sequence[str], rows: Iterable[Sequence[Child]], caption: str) -> Markup:
    """A table in a box that scrolls sideways. The first cell of a row is its heading."""
    lines = (
        element("tr", element("th", row[0], scope="row"), *(element("td", cell) for cell in row[1:])) for row in rows
    )
    whole = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *(element("th", name, scope="col") for name in head))),
        element("tbody", *lines),
    )
    return scrollable(whole, label)


def scrollable(content: Markup, label: str) -> Markup:
    """A box that scrolls sideways if its content is wider than the page."""
    return element("div", content, class_="scroller", tabindex=0, role="region", aria_label=label)


def section(title: Markup | str, *children: Markup | None) -> Markup:
    return element("section", element("h2", title), *children)


def figure(title: str, chart: Markup, caption: str) -> Markup:
    """A chart with its caption. A wide chart is in a box that scrolls."""
    wide = 'class="wide"' in chart
    shown = scrollable(chart, title) if wide else chart
    text = element("figcaption", element("b", title), " ", caption)
    return element("figure", shown, text, class_="broad" if wide else None)
