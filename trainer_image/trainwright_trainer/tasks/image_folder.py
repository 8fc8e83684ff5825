"""A folder of images as a data set for a model with one input: one row for each file, in the order of the names."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa

from trainwright_api.problems import Mistakes
from trainwright_trainer.data.datasets import DataTable
from trainwright_trainer.data.files import EACH
from trainwright_trainer.features.pixels import SUFFIXES
from trainwright_trainer.job.job import Job
from trainwright_trainer.storage.location import data_place_of
from trainwright_trainer.storage.registry import storage_of
from trainwright_trainer.tasks.saved_model import SavedModel


def images_of(job: Job, saved: SavedModel) -> DataTable | None:
    """The paths of a folder's images, in the column that the model reads. None if the data set is something else.

    Raises `Mistakes` if the model has further inputs, or the folder further files.
    """
    place = data_place_of(job.dataset, "dataset")
    is_folder = os.path.isdir(place) if isinstance(place, Path) else job.dataset.endswith("/")
    if not is_folder or not saved.layout.images:
        return None
    folder = storage_of(place, job.keys.datasets)
    names = sorted(folder.match(EACH))
    unfit = [name for name in names if not name.lower().endswith(SUFFIXES)]
    if len(unfit) == len(names):
        return None
    if unfit:
        raise Mistakes.one("dataset", f"{job.dataset!r} holds images, and {unfit[0]!r}, which is none: take it out")
    first, *others = saved.config.input_features
    if others:
        line = f"{job.dataset!r} holds images alone, and the model also reads {others[0].name!r}: give a table"
        raise Mistakes.one("dataset", line)
    table = pa.table({first.column or first.name: names})
    return DataTable(table, job.dataset, job.keys.datasets, folder)
