"""Check that a job's data set exists and has the columns that its config names, from the head of one file.

The check reads the job as plain data, so that another mistake in the config does not hide a missing column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainwright_api.checks.load import dataset_options
from trainwright_api.checks.path_access import lies_under
from trainwright_api.config.outlines import mapping, outlines
from trainwright_api.locations import is_read_only, is_stored
from trainwright_api.problems import Mistakes, Problem
from trainwright_api.resource.dataset_options import DatasetOptions
from trainwright_trainer.data import source
from trainwright_trainer.data.files import Files, find
from trainwright_trainer.errors import EnvironmentFailure


@dataclass(frozen=True)
class Head:
    """The problems of a job's data, and notes on parts that were not checked."""

    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    failure: EnvironmentFailure | None = None
    """The reason why the data cannot be read, which is not a mistake in the job."""


def look(spec: Mapping[str, Any]) -> Head:
    """Check the data set that a spec, given as plain data, names."""
    dataset = spec.get("dataset")
    if not isinstance(dataset, str) or not dataset:
        return Head()
    if is_stored(dataset) or is_read_only(dataset):
        return Head(notes=("dataset lies in a store: its columns are looked at when the job runs",))
    if "://" in dataset and not dataset.startswith("file://"):
        return Head()
    try:
        files = find(dataset, options=_options(spec))
        source.check(files, named_columns(spec.get("config")))
    except Mistakes as mistakes:
        if _is_for_pods(dataset, spec):
            return Head(notes=(f"dataset {dataset!r} is not on this machine, but on a volume of the pods",))
        return Head(problems=mistakes.problems)
    except EnvironmentFailure as failure:
        return Head(failure=failure)
    return Head(notes=(*(f"dataset {files.dataset!r}: {line}" for line in source.notices(files)), *_untold(files)))


def _options(spec: Mapping[str, Any]) -> DatasetOptions | None:
    """The options of a spec. None if they are absent, or wrong, which another check reports."""
    try:
        return dataset_options(spec.get("datasetOptions") or {})
    except Mistakes:
        return None


def named_columns(config: Any) -> list[tuple[str, str]]:
    """Each column that a config, given as plain data, names: pairs of the path in the config and the column."""
    if not isinstance(config, Mapping):
        return []
    features = [*outlines(config, "input_features"), *outlines(config, "output_features")]
    columns = [(f"config.{feature.path}.column", feature.column) for feature in features]
    split = mapping(mapping(config.get("preprocessing")).get("split"))
    column = split.get("column", "split" if split.get("type") == "fixed" else None)
    return [*columns, ("config.preprocessing.split.column", column)] if isinstance(column, str) else columns


def _is_for_pods(dataset: str, spec: Mapping[str, Any]) -> bool:
    """True if the data set is on a volume that only pods can see."""
    path = dataset.removeprefix("file://")
    mounts = mapping(spec.get("podTemplate")).get("volumeMounts")
    folders = [mapping(mount).get("mountPath") for mount in mounts] if isinstance(mounts, list) else []
    is_mounted = any(isinstance(folder, str) and lies_under(path, folder) for folder in folders)
    return is_mounted and not Path(path).exists()


def _untold(files: Files) -> Iterator[str]:
    if files.reader.columns(files.each[0]) is None:
        yield f"dataset {files.dataset!r}: its columns are looked at when the job runs, for they stand in every row"
