"""The options of the command line. Each field has the meaning of its `--flag`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """Overrides for one run. None means that the file decides."""

    dataset: str | None = None
    output: str | None = None
    backend: str | None = None
    seed: int | None = None
    resume: bool = False
    overwrite: bool = False
    model: str | None = None
    json: bool = False
    cache_dir: str | None = None
    """The cache folder if the file names none. It has no flag: only in-memory data need it, which have no location."""
    threads: int | None = None
