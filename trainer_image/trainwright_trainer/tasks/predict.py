"""The task predict, and the test predictions of an experiment: block by block, so that data may exceed the memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from numbers import Integral

import numpy as np
import pyarrow as pa
import torch

from trainwright_api.config import ModelConfig
from trainwright_api.config.features import OutputFeature
from trainwright_api.problems import Mistakes
from trainwright_trainer.callbacks.console import Console, notice_lines
from trainwright_trainer.callbacks.formats import count, counted
from trainwright_trainer.data.content import explained
from trainwright_trainer.data.datasets import DataFiles, DataTable
from trainwright_trainer.data.new_data import KEEP, EncodedBlock, NewData
from trainwright_trainer.data.table_schema import joined
from trainwright_trainer.decoders.width import width_of
from trainwright_trainer.features.numerals import numbers_of
from trainwright_trainer.job.job import Job
from trainwright_trainer.job.options import prediction_file
from trainwright_trainer.loader.materialised import Materialised
from trainwright_trainer.models.predictions import prediction_table
from trainwright_trainer.storage.location import Place
from trainwright_trainer.tasks.blocks import Blocks, BlocksHere, Log
from trainwright_trainer.tasks.image_folder import images_of
from trainwright_trainer.tasks.prediction_file import refuse_own_data, writing
from trainwright_trainer.tasks.saved_model import (
    SavedModel,
    computing,
    evaluation_data,
    files_of,
    load_model,
    model_of,
    passes_of,
    valid_rows,
)

_NUMBERS_OF_A_BLOCK = 1 << 24
"""The most predicted numbers of a block: 128 MiB in float64, of which a few copies exist at a time."""
ALL = ("all",)
"""The value of `--keep` for all columns."""


def predict(job: Job, log: Log, blocks: Blocks) -> pa.Table | None:
    """Predict each row of the data set, in its order. A row that an input feature drops has null predictions.

    Returns the rows too if `job.options.returns_rows`. They are then written only to an output that is given.
    """
    saved = model_of(job, blocks.device)
    refuse_top_k(saved.config, job.options.top_k)
    images = images_of(job, saved)
    files = images or files_of(saved, job)
    keep = job.options.keep if images is None else ALL
    data = rows_to_predict(saved, files, keep, job.options.top_k)
    is_written = job.options.output is not None or not job.options.returns_rows
    path = prediction_file(job.options.output, job.output) if is_written else None
    if path is not None and isinstance(files, DataFiles):
        refuse_own_data(path, files.files, job.dataset)
    tables, empty, confirm = [], 0, data.watch()
    file = nullcontext() if path is None else writing(path, job.keys)
    with computing(saved, job.options.threads, job.cpus), file as write, explained(confirm):
        for table, left_out in blocks.map(saved, data, partial(Predictor, top_k=job.options.top_k)):
            if write is not None:
                write(table)
            empty += left_out
            if job.options.returns_rows:
                tables.append(table)
        confirm()
    more = f", {count(empty)} empty for want of an input" if empty else ""
    where = "" if path is None else f": {path}"
    done = f"{data.name}: {counted(data.tally.rows, 'row')} predicted{more}{where}"
    log(*notice_lines(data.notices(), data.name), done)
    return joined(tables) if tables else None


def predict_test_rows(job: Job, model: Place, console: Console) -> None:
    """Write the test predictions of an experiment, with each row's number, to `test_predictions.parquet`.

    Raises `Mistakes` if the data have changed since the training.
    """
    saved = load_model(model, job.keys.artifacts, BlocksHere.of(job).device)
    kept = kept_columns(saved.config, files_of(saved, job).columns(), ())
    data, part = evaluation_data(saved, job, kept, rows_of_a_block(saved))
    if part != "test":
        raise Mistakes.one("dataset", "its content is not the data that the run was begun with")
    path, rows = job.output / "test_predictions.parquet", 0
    with computing(saved, job.options.threads, job.cpus), writing(path, job.keys) as write:
        for block in data.blocks():
            table = _of_valid_rows(saved, block)
            rows += len(table)
            if len(table):
                write(table)
    if not rows:
        console.log("no test row to predict: the split has none")
        return
    console.log(f"{counted(rows, 'test row')} predicted: {path}")


def rows_to_predict(saved: SavedModel, data: DataFiles | DataTable, keep: Sequence[str], top_k: int | None) -> NewData:
    """All rows of new data, with the columns to keep. Raises `Mistakes` for columns that the data lack."""
    kept = kept_columns(saved.config, data.columns(), keep)
    return saved.rows_of(data, targets=False, kept=kept, most_rows=rows_of_a_block(saved, top_k))


def rows_of_a_block(saved: SavedModel, top_k: int | None = None) -> int:
    """The most rows that are predicted at a time: fewer where a category has many classes, each of them a column."""
    return max(1, _NUMBERS_OF_A_BLOCK // sum(_numbers_of(one, saved, top_k) for one in saved.config.output_features))


def _numbers_of(feature: OutputFeature, saved: SavedModel, top_k: int | None) -> int:
    """The predicted numbers of a row."""
    if feature.type not in ("category", "vector"):
        return 1
    width = width_of(feature, saved.statistics[feature.name])
    return width if top_k is None or feature.type == "vector" else min(width, top_k)


def kept_columns(config: ModelConfig, columns: Sequence[str], keep: Sequence[str]) -> list[str]:
    """The columns to write beside the predictions: those that `keep` names, then the targets that the data have."""
    targets = [name for feature in config.output_features if columns.count(name := feature.column or feature.name) == 1]
    wanted = columns if tuple(keep) == ALL else keep
    return list(dict.fromkeys([*(name for name in wanted if name not in targets), *targets]))


def refuse_top_k(config: ModelConfig, top_k: int | None) -> None:
    """Raise `Mistakes` for a `--top-k` that is no whole number from 1 on, or for a model that predicts no category."""
    if top_k is None:
        return
    if not isinstance(top_k, Integral) or top_k < 1:
        raise Mistakes.one("--top-k", f"{top_k!r}: expected a whole number of at least 1")
    if all(feature.type != "category" for feature in config.output_features):
        found = ", ".join(f"{feature.name!r} ({feature.type})" for feature in config.output_features)
        raise Mistakes.one("--top-k", f"acts on outputs of type category alone, and the model predicts {found}")


@dataclass(frozen=True)
class Predictor:
    """Predicts the rows of a block. `top_k`: the likeliest classes of a category."""

    saved: SavedModel
    top_k: int | None = None

    def __call__(self, block: EncodedBlock) -> tuple[pa.Table, int]:
        """Kept columns, then predictions. With the number of rows that have no prediction."""
        rows = valid_rows(self.saved, block.data)
        table = _predicted(self.saved, rows, self.top_k)
        left_out = block.data.rows - len(rows)
        if left_out:
            places = np.full(block.data.rows, -1, dtype=np.int64)
            places[rows.held.rows] = np.arange(len(rows))
            table = table.take(pa.array(places, mask=places < 0))
        return _beside(_kept(self.saved.config, block), table), left_out


def predictions(saved: SavedModel, data: NewData, top_k: int | None = None) -> Iterator[tuple[pa.Table, int]]:
    """The predictions of all blocks, in this process."""
    return BlocksHere().map(saved, data, partial(Predictor, top_k=top_k))


def _of_valid_rows(saved: SavedModel, block: EncodedBlock) -> pa.Table:
    """The test rows of a block that have predictions, with their numbers in the data set."""
    rows = valid_rows(saved, block.data)
    table = _predicted(saved, rows)
    kept = {name: values.take(pa.array(rows.held.rows)) for name, values in _kept(saved.config, block).items()}
    return _beside({"row": pa.array(rows.held.rows + block.first_row), **kept}, table)


def _predicted(saved: SavedModel, rows: Materialised, top_k: int | None = None) -> pa.Table:
    """One row of predictions for each row. Without rows, the table is empty and has all columns."""
    batches = passes_of(saved, rows) if len(rows) else [rows.held.part(0, 0).on(saved.device)]
    numbers, tables = [], []
    with torch.inference_mode():
        for batch in batches:
            numbers.append(batch.rows)
            tables.append(prediction_table(saved.config, saved.statistics, saved.model.predict(batch), top_k))
    table = pa.concat_tables(tables)
    if not rows.held.ragged:
        return table
    return table.take(pa.array(np.argsort(np.concatenate(numbers))))


def _kept(config: ModelConfig, block: EncodedBlock) -> Mapping[str, pa.Array]:
    """The kept columns as the source has them; the columns of numbers as numbers, null where there is none."""
    features = (*config.input_features, *config.output_features)
    numbers = {feature.column or feature.name for feature in features if feature.type == "number"}
    kept = dict(block.kept)
    for name in numbers & kept.keys():
        if pa.types.is_string(kept[name].type):
            kept[name], _ = numbers_of(kept[name], block.points.get(name, "decimals"))
    return kept


def _beside(kept: Mapping[str, pa.Array], table: pa.Table) -> pa.Table:
    """Raises `Mistakes` if a kept column has the name of a prediction."""
    for name in kept:
        if name in table.column_names:
            raise Mistakes.one(KEEP, f"column {name!r} has the name of a prediction: rename it, or do not keep it")
    return pa.table({**kept, **dict(zip(table.column_names, table.columns, strict=True))})
