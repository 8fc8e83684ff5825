"""The report inside a notebook: in a frame of its own, so that neither's styles change the other."""

from __future__ import annotations

from html import escape

HEIGHT = 640
"""The height of the frame in pixels. The page scrolls inside."""


def embedded(page: str) -> str:
    """The HTML of a cell that shows `page`, a page without scripts and requests."""
    style = f"width: 100%; height: {HEIGHT}px; border: 0"
    return f'<iframe sandbox title="Trainwright report" style="{style}" srcdoc="{escape(page)}"></iframe>'
