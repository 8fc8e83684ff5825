"""The commands `trainwright cache ls`, `verify` and `prune`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from trainwright_trainer.commands.options import Json, not_empty, text_option

app = typer.Typer(
    name="cache",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Show, check and shrink a cache of preprocessing. A job without backend.cache_dir has it beside its data.",
)

CachePlace = Annotated[
    str | None,
    typer.Argument(
        metavar="[CACHE]",
        help="A folder or a URI, such as data/.trainwright_cache beside the data in data/. "
        "Default: .trainwright_cache in the working folder.",
        callback=not_empty,
    ),
]
OlderThan = Annotated[str | None, text_option("TIME", "Delete what was last used longer ago, such as 30d or 12h.")]
MaxBytes = Annotated[
    str | None, text_option("SIZE", "Delete what was used longest ago, until so much is left, such as 20GB.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Delete nothing.")]


@app.command()
def ls(place: CachePlace = None, json: Json = False) -> None:
    """List the columns with their data set, feature, rows, bytes and last use."""
    from trainwright_trainer.tasks import cache as tasks

    _print(tasks.listed(tasks.cache_at(place), json))


@app.command()
def verify(place: CachePlace = None, json: Json = False) -> None:
    """Compare the checksums of all entries, and name the damaged ones. The exit code is 3 if there are any."""
    from trainwright_trainer.tasks import cache as tasks

    _print(tasks.verified(tasks.cache_at(place), json))


@app.command()
def prune(
    place: CachePlace = None,
    older_than: OlderThan = None,
    max_bytes: MaxBytes = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Delete old entries, and always the files that killed writers left."""
    from trainwright_trainer.tasks import cache as tasks

    try:
        seconds = None if older_than is None else tasks.seconds_of(older_than)
        size = None if max_bytes is None else tasks.bytes_of(max_bytes)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    _print(tasks.pruned(tasks.cache_at(place), tasks.PruneOptions(seconds, size, dry_run), json))


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        typer.echo(line)
