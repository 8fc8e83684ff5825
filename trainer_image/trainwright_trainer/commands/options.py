"""Options that several modules of the command line share."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def not_empty(value: str | None) -> str | None:
    """Refuse an empty value, as from a shell variable that is not set."""
    if value is not None and not value.strip():
        raise typer.BadParameter("is empty")
    return value


def text_option(metavar: str, line: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=line, callback=not_empty)


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")]
