"""What the command line adds to the file: every field has the meaning of its `--flag`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """Overrides of one run. None means: as the file says."""

    dataset: str | None = None
    output: str | None = None
    backend: str | None = None
    seed: int | None = None
    resume: bool = False
    overwrite: bool = False
    model: str | None = None
    json: bool = False
    cache_dir: str | None = None
    """Where the cache lies if the file does not say it. No flag: data that are given in memory have no place."""
    threads: int | None = None
