"""`trainwright init`: the file of a job for a table."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainwright_api.checks import load
from trainwright_api.problems import Mistakes, Problem
from trainwright_api.yaml.nodes import read
from trainwright_trainer.callbacks.formats import counted
from trainwright_trainer.data.datasets import DataFiles
from trainwright_trainer.data.files import find
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.suggest.job_text import job_text
from trainwright_trainer.suggest.profile import profile_of
from trainwright_trainer.suggest.suggestion import Suggestion, suggestion_of
from trainwright_trainer.tasks.given_data import given_data
from trainwright_trainer.tasks.prediction_file import refuse_own_data

if TYPE_CHECKING:
    from trainwright_trainer.data.datasets import DataTable
    from trainwright_trainer.tasks.given_data import Data

DEFAULT_NAME = "job.yaml"


def suggested(data: Data, target: str, options: Mapping[str, Any] | None = None) -> Suggestion:
    """The job for a path or a table. `options` is the section `datasetOptions` for a path.

    Raises `Mistakes` for data without such a target, and `EnvironmentFailure`.
    """
    return suggestion_of(profile_of(_data(data, options), target), options)


def init(
    dataset: str, target: str, output: Path | None, *, options: str | None = None, overwrite: bool = False
) -> tuple[str, tuple[str, ...]]:
    """The text of the job's file, which is written to `output`, and notices. `options`: `datasetOptions` in YAML.

    Raises as `suggested` does.
    """
    section = None if options is None else _section(options)
    data = _data(dataset, section)
    if output is not None:
        _check_output(output, data, dataset, overwrite=overwrite)
    found = suggestion_of(profile_of(data, target), section)
    text = job_text(found, dataset, DEFAULT_NAME if output is None else str(output))
    load.loads(text, DEFAULT_NAME)
    if output is not None:
        _write(output, text)
    return text, (*(f"{data.name}: {line}" for line in data.notices()), *_summary(found, output))


def _section(text: str) -> Any:
    try:
        return read(text).data
    except Mistakes as found:
        raise Mistakes(Problem("--dataset-options", one.message) for one in found.problems) from None


def _data(data: Data, section: Any) -> DataFiles | DataTable:
    if section is None:
        return given_data(data)
    options = load.dataset_options(section)
    if not isinstance(data, str | os.PathLike):
        raise Mistakes.one("datasetOptions", "say how files are read, and the data are a table in memory")
    return DataFiles(find(os.fspath(data), options=options))


def _check_output(output: Path, data: DataFiles | DataTable, dataset: str, *, overwrite: bool) -> None:
    """Raise `Mistakes` if the file would replace the data, or without `overwrite` any other file."""
    if isinstance(data, DataFiles):
        refuse_own_data(output, data.files, dataset)
    if os.path.exists(output) and not overwrite:  # `Path.exists` raises an error for a name that is too long
        raise Mistakes.one("--output", f"{str(output)!r} exists: name another file, or give --overwrite")


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise EnvironmentFailure(f"{path} cannot be written: {error.strerror or error}") from error


def _summary(found: Suggestion, output: Path | None) -> Iterator[str]:
    target = found.output.value
    parts = [
        counted(found.profile.rows, "row"),
        f"{counted(len(found.inputs), 'input')} → {target['name']} ({target['type']})",
    ]
    if found.left_out:
        parts.append(f"{counted(len(found.left_out), 'column')} left out")
    yield f"{found.profile.name}: {' · '.join(parts)}" + ("" if output is None else f": {output}")
    if output is not None:
        yield from (f"  left out {name!r}: {reason}" for name, reason in found.left_out)
        yield f"next: trainwright train {output}"
