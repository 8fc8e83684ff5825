"""Pictures of rows, as parts of a card."""

from __future__ import annotations

from collections.abc import Iterable

from trainwright_trainer.report.markup import Markup, element


def pictures(found: Iterable[tuple[str, str]]) -> Markup | None:
    """A line of pictures. `found`: the description of each, and its data URI."""
    images = [element("img", src=uri, alt=text, title=text, class_=_kind(uri)) for text, uri in found]
    return element("div", *images, class_="pictures") if images else None


def _kind(uri: str) -> str | None:
    """A PNG has a few pixels alone, which stay sharp when they are enlarged."""
    return "pixels" if uri.startswith("data:image/png") else None
