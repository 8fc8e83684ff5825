"""The tasks of a trained model, evaluate and predict. They need only the data and the folder of the model."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import torch

from trainwright_api.config import ModelConfig
from trainwright_api.problems import Mistakes
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.callbacks.events import Scores
from trainwright_trainer.callbacks.formats import count, counted, score
from trainwright_trainer.callbacks.json_lines import finite
from trainwright_trainer.data.content import content_now
from trainwright_trainer.data.files import find
from trainwright_trainer.data.prepared import TEST, UNSAMPLED, Prepared
from trainwright_trainer.data.preprocess import encode_with, prepare
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.job.job import Job
from trainwright_trainer.job.prediction_file import prediction_file
from trainwright_trainer.job.versions import versions
from trainwright_trainer.loader.batch import Batch, Layout
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.loader.materialised import Split, everything
from trainwright_trainer.loop.evaluator import evaluate as evaluated
from trainwright_trainer.metrics.figures import figures_of
from trainwright_trainer.metrics.model import model_metrics
from trainwright_trainer.models.model import DTYPES, Model
from trainwright_trainer.models.predictions import prediction_table
from trainwright_trainer.report.data import ReportData
from trainwright_trainer.report.page import render
from trainwright_trainer.rundir import model_folder
from trainwright_trainer.runtime.cpus import asked_threads, usable_cpus
from trainwright_trainer.runtime.threads import Threads, computing_with
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.storage.s3client.credentials import S3Credentials
from trainwright_trainer.storage.s3client.job_credentials import JobCredentials
from trainwright_trainer.storage.s3client.uri import Place
from trainwright_trainer.tasks.artifacts import feature_summaries

ROWS_AT_A_TIME = 16_384

# The word for an evaluated row: all rows of new data ("given"), or the test rows of the training data ("test").
_ROW = {"given": "row", "test": "test row"}
_NO_ROW = {
    "given": "no row of {!r} can judge the model: each lacks a target, or an input that drops the row.",
    "test": "the model was trained on {!r} without test rows. Give other data with --dataset.",
}


@dataclass(frozen=True)
class Trained:
    """A saved model, loaded and in eval mode. `about`: its name, its seed and the hash of its training data."""

    config: ModelConfig
    statistics: Mapping[str, Mapping[str, Any]]
    layout: Layout
    model: Model
    about: Mapping[str, Any]


def trained(location: Place, access: S3Credentials | None = None) -> Trained:
    """Load the model from its folder or its run folder. Raises `Mistakes` if there is no model, or it is damaged."""
    folder = model_folder.load(str(location), access)
    config = ModelConfig.model_validate(folder.config)
    layout = layout_of(config, folder.statistics)
    model = Model(config, folder.statistics, layout, seed=0)
    model.load_state_dict(dict(folder.weights))
    return Trained(config, folder.statistics, layout, model.eval(), folder.extra)


def evaluate(job: Job, console: Console) -> Scores:
    """Score a data set with targets. Writes `evaluation.json` and `evaluation.html` to the output folder."""
    it = _model_of(job)
    data, part = _judged(it, job)
    console.log_notices(data.notices, data.dataset)
    rows = _valid(it, data)
    if not len(rows):
        raise Mistakes.one("dataset", _NO_ROW[part].format(data.dataset))
    metrics = model_metrics(it.config, it.statistics, figures=True)
    with _computing(it, rows, job):
        scores = evaluated(it.model, rows, ROWS_AT_A_TIME, metrics)
    shown = [f"{name}.{metric} {score(value)}" for name, found in scores.items() for metric, value in found.items()]
    page = ReportData(
        title=str(it.about["name"]),
        started=None,
        history=(),
        ended=None,
        outputs=figures_of(metrics),
        features=list(feature_summaries(it.config, it.statistics)),
        resolved={"model": str(job.model), "dataset": job.dataset, "config": it.config.model_dump(mode="json")},
        versions=versions(),
        part=part,
    )
    plain = {"dataset": job.dataset, "model": str(job.model), "part": part, "rows": len(rows), "scores": scores}
    folder = storage_at(str(job.output), job.keys.artifacts)
    folder.write("evaluation.html", [render(page).encode()])
    folder.write("evaluation.json", [json.dumps(finite(plain), indent=2).encode() + b"\n"])
    console.log(
        f"{data.dataset}: {counted(len(rows), _ROW[part])} · " + " · ".join(shown),
        f"report {job.output / 'evaluation.html'} · scores {job.output / 'evaluation.json'}",
    )
    return scores


def predict(job: Job, console: Console) -> pa.Table:
    """Predict each row of the data set, in its order. A row that an input feature drops has null predictions."""
    it = _model_of(job)
    data = encode_with(it.config, it.statistics, job.dataset, targets=False, keys=job.keys)
    console.log_notices(data.notices, data.dataset)
    return _write_predictions(it, data, job, console)


def predict_test_rows(job: Job, model: Place, console: Console) -> None:
    """Write the test predictions of an experiment, with each row's number, to `test_predictions.parquet`."""
    it = trained(model, job.keys.artifacts)
    data, _ = _judged(it, job)
    split = _valid(it, data)
    if not len(split):
        console.log("no test row to predict: the split has none")
        return
    with _computing(it, split, job):
        table = _predicted(it, split).add_column(0, "row", pa.array(split.rows))
    _write(table, job.output / "test_predictions.parquet", job.keys)
    console.log(f"{counted(len(split), 'test row')} predicted: {job.output / 'test_predictions.parquet'}")


def _model_of(job: Job) -> Trained:
    assert job.model is not None, "a task of a model names one"
    return trained(job.model, job.keys.artifacts)


def _judged(it: Trained, job: Job) -> tuple[Prepared, str]:
    """The data and the part of it to evaluate: all rows of new data, or the test rows of the training data."""
    if content_now(find(job.dataset, job.keys.datasets)) != it.about["content"]:
        return encode_with(it.config, it.statistics, job.dataset, targets=True, keys=job.keys), "given"
    data = prepare(it.config, job.dataset, seed=it.about["seed"], cache_dir=job.cache_dir, keys=job.keys)
    test_only = np.where(data.splits == TEST, TEST, UNSAMPLED).astype(np.uint8)
    return replace(data, splits=test_only, notices=(*data.notices, *data.finish())), "test"


def _valid(it: Trained, data: Prepared) -> Split:
    """The test rows that no feature drops."""
    split = everything(data, _present(it.layout, data), DTYPES[it.config.trainer.precision])
    kept = np.flatnonzero(data.splits[split.rows] == TEST)
    index = torch.from_numpy(kept)
    return Split(split.floats.index_select(0, index), split.ints.index_select(0, index), split.rows[kept])


def _present(layout: Layout, data: Prepared) -> Layout:
    """The layout without the columns that the data lack. For predict these are the targets."""
    return replace(layout, columns={name: place for name, place in layout.columns.items() if name in data.columns})


def _computing(it: Trained, split: Split, job: Job) -> AbstractContextManager[None]:
    threads = Threads(usable_cpus(job.cpus), job.options.threads or asked_threads(os.environ))
    return computing_with(threads.of(it.model, min(len(split), ROWS_AT_A_TIME)))


def _predicted(it: Trained, split: Split) -> pa.Table:
    """One row of predictions for each row of the split. An empty split gives an empty table with all columns."""
    batches = split.batches(ROWS_AT_A_TIME) if len(split) else [Batch(split.floats, split.ints, split.rows)]
    with torch.inference_mode():
        parts = [prediction_table(it.config, it.statistics, it.model(batch)) for batch in batches]
    return pa.concat_tables(parts)


def _write_predictions(it: Trained, data: Prepared, job: Job, console: Console) -> pa.Table:
    path = prediction_file(job.options.output, job.output)
    split = _valid(it, data)
    places = np.full(data.rows, -1, dtype=np.int64)
    places[split.rows] = np.arange(len(split))
    with _computing(it, split, job):
        table = _predicted(it, split).take(pa.array(places, mask=places < 0))
    _write(table, path, job.keys)
    left_out = data.rows - len(split)
    more = f", {count(left_out)} empty for want of an input" if left_out else ""
    console.log(f"{data.dataset}: {counted(data.rows, 'row')} predicted{more}: {path}")
    return table


def _write(table: pa.Table, place: Place, keys: JobCredentials) -> None:
    """Write the table. For an object store, write a temporary local file and upload it."""
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
    """CSV has no lists: a vector becomes its numbers separated by spaces, a form that the reader accepts."""
    for position, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            texts = [None if row is None else " ".join(map(repr, row)) for row in table[position].to_pylist()]
            table = table.set_column(position, field.name, pa.array(texts, pa.string()))
    return table
