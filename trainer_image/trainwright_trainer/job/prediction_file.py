"""Which file predictions are written to, and in which of the formats that this version writes."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from trainwright_api.problems import Mistakes
from trainwright_trainer.storage.s3client.uri import Place

FORMATS = (".parquet", ".csv")


def refuse_unwritable(output: str) -> None:
    """Raises `Mistakes` where `--output` names a file of another format. A folder with such a name ends with `/`."""
    suffix = PurePosixPath(output).suffix
    is_folder = output.endswith("/") or not suffix[1:2].isalpha() or Path(output).is_dir()
    if not is_folder and suffix.lower() not in FORMATS:
        known = " or ".join(FORMATS)
        raise Mistakes.one(
            "--output", f"predictions cannot be written as {suffix}: name a file with {known}, or a folder ({output}/)"
        )


def prediction_file(output: str | None, place: Place) -> Place:
    """`output`: what the command line says; `place`: where that is, or the run's folder where it says nothing."""
    is_file = output is not None and not output.endswith("/") and place.suffix.lower() in FORMATS
    return place if is_file else place / "predictions.parquet"
