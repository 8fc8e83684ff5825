"""The frame of all report pages: one file with its style, without scripts and links."""

from __future__ import annotations

from pathlib import Path
from string import Template

from trainwright_trainer.report.markup import Markup, join


def framed(title: str, body: Markup) -> str:
    """A whole page around `body`."""
    folder = Path(__file__).parent
    return Template((folder / "page.html").read_text(encoding="utf-8")).substitute(
        title=join(title), style=(folder / "style.css").read_text(encoding="utf-8"), body=body
    )
