"""A saved model, and the rows that it evaluates or predicts. The tasks need only the data and the model's folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import torch

from trainwright_api.config import ModelConfig, stored_config
from trainwright_api.config.features import OutputFeature
from trainwright_api.resource.dataset_options import DatasetOptions
from trainwright_trainer.combiners import COMBINERS
from trainwright_trainer.data.content import content_of, hashes_now
from trainwright_trainer.data.datasets import DataFiles, DataTable
from trainwright_trainer.data.files import Files, find
from trainwright_trainer.data.new_data import NewData
from trainwright_trainer.data.prepared import TEST, Prepared
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.data.rows import BLOCK_ROWS, PASS_LOGITS
from trainwright_trainer.decoders.width import width_of
from trainwright_trainer.job.job import Job
from trainwright_trainer.layers.names import tensor_name
from trainwright_trainer.loader.batch import Batch, Layout
from trainwright_trainer.loader.by_length import passes
from trainwright_trainer.loader.epoch_order import EpochOrder
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.loader.load import part_rows
from trainwright_trainer.loader.materialised import Materialised
from trainwright_trainer.models.model import DTYPES, Model
from trainwright_trainer.models.multiplications import parameters_of
from trainwright_trainer.models.targets import SEQUENCES
from trainwright_trainer.models.trainable import assign
from trainwright_trainer.rundir import model_folder
from trainwright_trainer.runtime.cpus import asked_threads, usable_cpus
from trainwright_trainer.runtime.products import compute_products_in
from trainwright_trainer.runtime.threads import Threads, computing_with
from trainwright_trainer.storage.location import Place
from trainwright_trainer.storage.s3client.credentials import S3Credentials

_VECTORS_AT_A_TIME = 4_096
_IMAGE_NUMBERS = 1 << 24
"""The most numbers in the images of a forward pass: their activations take many times as much memory."""


@dataclass(frozen=True)
class SavedModel:
    """A saved model, loaded on `device` and in eval mode. `about`: its name, its seed and the hash of its training
    data."""

    config: ModelConfig
    statistics: Mapping[str, Mapping[str, Any]]
    layout: Layout
    model: Model
    about: Mapping[str, Any]
    device: torch.device

    def rows_of(
        self, data: DataFiles | DataTable, *, targets: bool, kept: Sequence[str] = (), most_rows: int = BLOCK_ROWS
    ) -> NewData:
        """All rows of new data, in blocks of at most `most_rows`. Raises `Mistakes` for columns that the data lack."""
        return NewData(data, self.config, self.statistics, targets=targets, kept=kept, most_rows=most_rows)


def load_model(location: Place, access: S3Credentials | None = None, device: str = "cpu") -> SavedModel:
    """Load the model from its folder or its run folder. Raises `Mistakes` if there is no model, or it is damaged."""
    folder = model_folder.load(str(location), access)
    config = stored_config(folder.config)
    layout = layout_of(config, folder.statistics)
    model = Model(config, folder.statistics, layout, seed=0)
    there = torch.device(device)
    assign(model, {tensor_name(name): tensor for name, tensor in folder.weights.items()}, there)
    return SavedModel(config, folder.statistics, layout, model.eval(), folder.extra, there)


def model_of(job: Job, device: str) -> SavedModel:
    assert job.model is not None, "a task of a model names one"
    saved = load_model(job.model, job.keys.artifacts, device)
    compute_products_in(saved.config.trainer.precision)
    return saved


def files_of(saved: SavedModel, job: Job) -> DataFiles:
    return DataFiles(find(job.dataset, job.keys.datasets, _options_of(saved, job)), job.keys.datasets, job.home)


def _options_of(saved: SavedModel, job: Job) -> DatasetOptions | None:
    """The options of the job. Without `naValues` of its own, the texts that counted as missing in the training do."""
    given, words = job.spec.dataset_options, saved.about.get("na_values")
    if not words or (given is not None and given.na_values is not None):
        return given
    return (given or DatasetOptions()).model_copy(update={"na_values": list(words)})


def evaluation_data(
    saved: SavedModel, job: Job, kept: Sequence[str] = (), most_rows: int = BLOCK_ROWS
) -> tuple[NewData, str]:
    """The data and the part of it to evaluate: all rows of new data, or the test rows of the training data."""
    data = files_of(saved, job)
    files = _as_in_training(saved, data.files)
    if files is None:
        return saved.rows_of(data, targets=True, kept=kept, most_rows=most_rows), "given"
    # The parts of the rows do not depend on the inputs, whose pretrained tokenizers may not be on this machine.
    prepared = prepare(
        saved.config.model_copy(update={"input_features": []}),
        job.dataset,
        seed=saved.about["seed"],
        cache_dir=job.cache_dir,
        keys=job.keys,
        options=files.options,
        max_cache_bytes=job.spec.cache.max_bytes,
        home=job.home,
    )
    prepared.finish()
    splits = prepared.splits
    data = replace(data, files=files)
    found = NewData(data, saved.config, saved.statistics, targets=True, kept=kept, splits=splits, most_rows=most_rows)
    return found, "test"


def _as_in_training(saved: SavedModel, files: Files) -> Files | None:
    """The files with the options that they were read with in the training; None if they are not its data."""
    hashes = hashes_now(files)
    before = DatasetOptions.model_validate(saved.about.get("dataset_options", {}), by_name=True)
    likely = (files, replace(files, options=before))
    return next((one for one in likely if content_of(one, hashes) == saved.about["content"]), None)


def valid_rows(saved: SavedModel, data: Prepared) -> Materialised:
    """The test rows that no feature drops. Their batches are on the device of the model."""
    held = part_rows(data, _present(saved.layout, data), DTYPES[saved.config.trainer.precision], TEST)
    return Materialised(held, EpochOrder(0, shuffles=False), saved.device)


def rows_at_a_time(saved: SavedModel) -> int:
    """The rows of a forward pass: fewer of large images, where the logits of a row are many, and where the combiner
    computes a vector for each input."""
    vectors = 1 if COMBINERS[type(saved.config.combiner)].joins else len(saved.config.input_features)
    shapes = [column.shape for column in saved.layout.images]
    numbers = sum(shape.channels * shape.height * shape.width for shape in shapes)
    logits = sum(_logits_of(one, saved.statistics[one.name]) for one in saved.config.output_features)
    bounds = (
        _VECTORS_AT_A_TIME // vectors,
        _IMAGE_NUMBERS // max(numbers, 1),
        PASS_LOGITS // max(logits, 1),
    )
    return max(1, min(bounds))


def _logits_of(feature: OutputFeature, statistics: Mapping[str, Any]) -> int:
    """Those of a row: of a sequence, a column for each token at each step."""
    steps = int(statistics["length"]) + 1 if feature.type in SEQUENCES else 1
    return steps * width_of(feature, statistics)


def passes_of(saved: SavedModel, rows: Materialised) -> Iterator[Batch]:
    """All rows in forward passes that fit in memory. Rows with texts or sets are in the order of their lengths."""
    most, held = rows_at_a_time(saved), rows.held
    if not held.ragged:
        yield from rows.sequential(most)
        return
    for places in passes(held.total_lengths(), most):
        yield held.take(places).on(saved.device)


def multiplications_of(saved: SavedModel) -> int:
    """Those of a forward pass, if each parameter is used once a vector."""
    return parameters_of(saved.model) * _VECTORS_AT_A_TIME


def _present(layout: Layout, data: Prepared) -> Layout:
    """The layout without the columns that the data lack. For predict these are the targets."""
    return replace(layout, columns={name: place for name, place in layout.columns.items() if name in data.columns})


def computing(saved: SavedModel, threads: int | None = None, cpus: float | None = None) -> AbstractContextManager[None]:
    """Compute with `threads` threads, or with as many as a batch needs of the CPUs that this process may use."""
    found = Threads(usable_cpus(cpus), threads or asked_threads(os.environ))
    return computing_with(found.of(multiplications_of(saved)))
