"""The options of the command line, and the prediction file that `--output` names."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import PurePosixPath

from trainwright_api.problems import Mistakes
from trainwright_trainer.storage.location import Place


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
    folder_of_table: str | None = None
    """The folder of data in memory, where paths in them start, and where their cache lies unless the file names one. It
    has no flag. None: the data are files."""
    threads: int | None = None
    cpus: int | None = None
    """The CPUs that this process may use. It has no flag: only a search sets it, for its trials."""
    gpus: int | None = None
    """The GPUs to train on with backend local. None: all of this machine."""
    keep: tuple[str, ...] = ()
    """The columns of the data to write beside the predictions; ("all",): all of them."""
    top_k: int | None = None
    """The likeliest classes of a category to write, in place of the probabilities of all classes."""
    returns_rows: bool = False
    """Return the predictions too, which then have to fit in memory. It has no flag: only the Python API needs them."""
    time_limit: float | None = None
    """End training with the round in which so many seconds have passed. It has no flag: `auto_train` sets it."""
    lenient: bool = False
    """Ignore unknown keys of the file, with a notice for each."""


FORMATS = (".parquet", ".csv")


def refuse_unwritable(output: str) -> None:
    """Raise `Mistakes` if `--output` names a file of another format. A folder with such a name must end with `/`."""
    suffix = PurePosixPath(output).suffix
    is_folder = output.endswith("/") or not suffix[1:2].isalpha() or os.path.isdir(output)
    if not is_folder and suffix.lower() not in FORMATS:
        known = " or ".join(FORMATS)
        raise Mistakes.one(
            "--output", f"predictions cannot be written as {suffix}: name a file with {known}, or a folder ({output}/)"
        )


def prediction_file(output: str | None, place: Place) -> Place:
    """The path to write to. `output`: the option; `place`: its location, or the run's folder without the option."""
    is_file = output is not None and not output.endswith("/") and place.suffix.lower() in FORMATS
    return place if is_file else place / "predictions.parquet"
