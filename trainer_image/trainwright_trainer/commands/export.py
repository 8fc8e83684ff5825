"""The command `trainwright export`."""

from __future__ import annotations

from typing import Annotated

import typer

from trainwright_trainer.commands.options import not_empty, text_option

ModelPlace = Annotated[
    str, typer.Argument(metavar="MODEL", help="The folder or the URI of a model or its run.", callback=not_empty)
]
Format = Annotated[
    str, typer.Option("--format", metavar="FORMAT", help="onnx, torch_export or safetensors.", callback=not_empty)
]
Target = Annotated[
    str | None, text_option("DIR", "Where the export goes. Default: export/FORMAT in the run's folder.", "--output")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an earlier export in the output folder.")]


def export(model: ModelPlace, format_: Format, output: Target = None, overwrite: Overwrite = False) -> None:
    """Write a trained model for other programs, with its preprocessing beside it."""
    from trainwright_trainer.tasks import export as tasks

    typer.echo(tasks.export(model, format_, output, overwrite=overwrite))
