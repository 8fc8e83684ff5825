"""The task predict, and the test predictions of an experiment."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import torch

from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.callbacks.formats import count, counted
from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.data.preprocess import encode_with
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.job.job import Job
from trainwright_trainer.job.options import prediction_file
from trainwright_trainer.loader.materialised import Materialised
from trainwright_trainer.models.predictions import prediction_table
from trainwright_trainer.storage.location import Place
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.storage.s3client.job_credentials import JobCredentials
from trainwright_trainer.tasks.saved_model import (
    ROWS_AT_A_TIME,
    SavedModel,
    computing,
    evaluation_data,
    load_model,
    model_of,
    valid_rows,
)


def predict(job: Job, console: Console) -> pa.Table:
    """Predict each row of the data set, in its order. A row that an input feature drops has null predictions."""
    saved = model_of(job)
    options = job.spec.dataset_options
    data = encode_with(saved.config, saved.statistics, job.dataset, targets=False, keys=job.keys, options=options)
    console.log_notices(data.notices, data.dataset)
    return _write_predictions(saved, data, job, console)


def predict_test_rows(job: Job, model: Place, console: Console) -> None:
    """Write the test predictions of an experiment, with each row's number, to `test_predictions.parquet`."""
    saved = load_model(model, job.keys.artifacts)
    data, _ = evaluation_data(saved, job)
    rows = valid_rows(saved, data)
    if not len(rows):
        console.log("no test row to predict: the split has none")
        return
    with computing(saved, rows, job):
        table = _predicted(saved, rows).add_column(0, "row", pa.array(rows.held.rows))
    _write(table, job.output / "test_predictions.parquet", job.keys)
    console.log(f"{counted(len(rows), 'test row')} predicted: {job.output / 'test_predictions.parquet'}")


def _predicted(saved: SavedModel, rows: Materialised) -> pa.Table:
    """One row of predictions for each row. Without rows, the table is empty and has all columns."""
    batches = rows.sequential(ROWS_AT_A_TIME) if len(rows) else [rows.held.part(0, 0)]
    with torch.inference_mode():
        parts = [prediction_table(saved.config, saved.statistics, saved.model(batch)) for batch in batches]
    return pa.concat_tables(parts)


def _write_predictions(saved: SavedModel, data: Prepared, job: Job, console: Console) -> pa.Table:
    path = prediction_file(job.options.output, job.output)
    rows = valid_rows(saved, data)
    places = np.full(data.rows, -1, dtype=np.int64)
    places[rows.held.rows] = np.arange(len(rows))
    with computing(saved, rows, job):
        table = _predicted(saved, rows).take(pa.array(places, mask=places < 0))
    _write(table, path, job.keys)
    left_out = data.rows - len(rows)
    more = f", {count(left_out)} empty for want of an input" if left_out else ""
    console.log(f"{data.dataset}: {counted(data.rows, 'row')} predicted{more}: {path}")
    return table


def _write(table: pa.Table, place: Place, keys: JobCredentials) -> None:
    """Write the table. For an object store, write a temporary local file and upload saved."""
    if isinstance(place, Path):
        _write_here(table, place)
        return
    with TemporaryDirectory(prefix="trainwright-predictions-") as folder:
        path = Path(folder) / place.name
        _write_here(table, path)
        storage_at(str(place.parent), keys.artifacts).write_file(place.name, path)


def _write_here(table: pa.Table, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix.lower() == ".csv":
            pyarrow.csv.write_csv(_without_lists(table), path)
        else:
            pyarrow.parquet.write_table(table, path)
    except OSError as error:
        raise EnvironmentFailure(f"{path} cannot be written: {error.strerror or error}") from error


def _without_lists(table: pa.Table) -> pa.Table:
    """CSV has no lists: a list becomes its numbers or tokens separated by spaces, a form that the reader accepts."""
    for position, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            word = str if pa.types.is_string(field.type.value_type) else repr
            texts = [None if row is None else " ".join(map(word, row)) for row in table[position].to_pylist()]
            table = table.set_column(position, field.name, pa.array(texts, pa.string()))
    return table
