"""The command `trainwright compare`."""

from __future__ import annotations

from typing import Annotated

import typer

from trainwright_trainer.commands.options import Json, text_option

RunPlaces = Annotated[list[str], typer.Argument(metavar="RUN...", help="The folders or the URIs of runs.")]
Target = Annotated[
    str | None, text_option("PAGE", "Where the page goes. Default: compare.html in this folder.", "--output")
]


def compare(runs: RunPlaces, output: Target = None, json: Json = False) -> None:
    """Compare runs: one table, and one page with their curves and the differences between their configs."""
    from trainwright_trainer.tasks import compare as tasks

    for line in tasks.compared(runs, output, as_json=json):
        typer.echo(line)
