"""Run a job and record all visible results, so that two runs can be compared.

Most jobs run the same steps as `trainwright train`, but keep checkpoints in memory and write no report. Jobs for
options about files run completely, each in its own folder.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import torch

from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.callbacks.events import Evaluated, Event, Stepped
from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.distributed.ranks import OneRank
from trainwright_trainer.job.batching import Batching, batching, needs_search, search_limit
from trainwright_trainer.job.job import Job, read_job
from trainwright_trainer.job.options import Options
from trainwright_trainer.layers.normalisation import norm_batches
from trainwright_trainer.loader.encoded_rows import encoded_rows
from trainwright_trainer.loader.interface import Loader
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.loader.load import epoch_order_of, loaders
from trainwright_trainer.loop.arguments import Hooks, TrainingArguments
from trainwright_trainer.loop.batch_size_finder import candidates, fastest_batch_size
from trainwright_trainer.loop.calibration import calibrate
from trainwright_trainer.loop.evaluator import evaluate
from trainwright_trainer.loop.trainer import Trainer
from trainwright_trainer.metrics.model import model_metrics
from trainwright_trainer.models.model import DTYPES, Model
from trainwright_trainer.models.predictions import prediction_table
from trainwright_trainer.rundir.retention import Fence
from trainwright_trainer.rundir.snapshot import Snapshot
from trainwright_trainer.rundir.writer import CheckpointWriter
from trainwright_trainer.storage.local import FolderStorage
from trainwright_trainer.tasks.resolve import window_of
from trainwright_trainer.tasks.run import run

FILE = Path("job.json")
Seen = dict[str, Any]


class Kept:
    """A checkpoint writer without files. It records the step and the score of each checkpoint."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, float | None]] = []

    def save(self, snapshot: Snapshot) -> None:
        self.seen.append((snapshot.position.step, snapshot.score))


class RecordingListener:
    """A listener that records events, without their times."""

    def __init__(self) -> None:
        self.seen: list[tuple[Any, ...]] = []

    def on_event(self, event: Event) -> None:
        if isinstance(event, Stepped):
            self.seen.append((event.step, event.epoch_rows, event.learning_rate))
        if isinstance(event, Evaluated):
            self.seen.append((event.epoch, event.step, event.learning_rate, json.dumps(event.scores), event.best))

    def close(self) -> None: ...


def read(job: dict[str, Any]) -> Job:
    """The job as the trainer reads it. The key `--backend` becomes that flag. Raises `Mistakes`."""
    written = deepcopy(job)
    options = Options(backend=written.pop("--backend", None))
    return read_job(None, FILE, options, json.dumps(written))


def in_memory(job: dict[str, Any]) -> Seen:
    """Run in memory. Returns curves, weights, predictions and notices. Raises `Mistakes`."""
    return _trained(read(job), Kept())


def checkpoints(job: dict[str, Any], folder: Path) -> Seen:
    """Run, and return the checkpoints left in `folder`. Each is written before the next step begins."""
    read_ = read(job)
    writer = CheckpointWriter(FolderStorage(folder), Fence(1), read_.spec.checkpoint, lambda *_: None, OneRank())
    _trained(read_, Patient(writer))
    writer.close()
    return {"checkpoints": sorted(path.name for path in (folder / "checkpoints").iterdir())}


class Patient:
    """A writer that waits for each checkpoint, so that the result does not depend on the speed of the disk."""

    def __init__(self, writer: CheckpointWriter) -> None:
        self._writer = writer

    def save(self, snapshot: Snapshot) -> None:
        self._writer.save(snapshot)
        self._writer.flush()


def _trained(job: Job, kept: Kept | Patient) -> Seen:
    config, seed = job.config, job.spec.seed
    assert config is not None
    data = prepare(config, job.dataset, seed=seed, cache_dir=job.cache_dir, options=job.spec.dataset_options)
    data.finish()
    layout = layout_of(config, data.statistics)
    order = epoch_order_of(config, layout, seed, window_of(job, config, data))
    parts = loaders(data, layout, DTYPES[config.trainer.precision], order)
    model = Model(config, data.statistics, layout, seed)
    listener = RecordingListener()
    trainer = Trainer(
        TrainingArguments(config, _batching(job, model, parts["train"]), seed, job.spec.checkpoint),
        model,
        parts,
        partial(model_metrics, config, data.statistics),
        hooks=Hooks([listener], kept, clock=partial(next, count())),
    )
    fitted = trainer.train()
    calibrate(model, parts["validation"], len(parts["validation"]), OneRank())
    return {
        "notices": [*job.notices, *data.notices],
        "rounds": listener.seen,
        "checkpoints": kept.seen if isinstance(kept, Kept) else None,
        "end": (fitted.outcome.reason, fitted.best_epoch, fitted.best_step),
        "weights": {name: _digest(tensor.numpy().tobytes()) for name, tensor in model.state_dict().items()},
        **_judged(job, data, model, parts["test"]),
    }


def _batching(job: Job, model: Model, rows: Loader) -> Batching:
    assert job.config is not None
    trainer, norms = job.config.trainer, norm_batches(model)
    if not needs_search(trainer):
        return batching(trainer, job.workers, norms)
    # Every step takes equally long by this clock, so that the largest size is the fastest on every machine.
    sizes = candidates(len(rows), search_limit(trainer, job.workers))
    found = fastest_batch_size(trainer, model, rows, sizes, clock=partial(next, count()))
    return batching(trainer, job.workers, norms, found.size)


def _judged(job: Job, data: Prepared, model: Model, test: Loader) -> Seen:
    assert job.config is not None
    layout = layout_of(job.config, data.statistics)
    metrics = model_metrics(job.config, data.statistics)
    rows = encoded_rows(data, layout, DTYPES[job.config.trainer.precision], np.flatnonzero(data.valid))
    scores = evaluate(model, test, len(test), metrics)
    with torch.inference_mode():
        table = prediction_table(job.config, data.statistics, model.predict(rows.part(0, len(rows))))
    return {"test": json.dumps(scores), "predictions": repr(table.to_pydict())}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def whole(job: dict[str, Any], folder: Path, data: Path) -> Seen:
    """Run completely. Returns the files in `folder`, the working folder, into which `data` is copied first."""
    for file in data.glob("*.parquet"):
        shutil.copy(file, folder)
    run(None, FILE, Options(), text=json.dumps(job), console=Console(quiet=True))
    return {"files": sorted(_names(folder))}


def _names(folder: Path) -> Iterator[str]:
    """The names of the files, without hashes and times, which differ from run to run."""
    for file in folder.rglob("*"):
        name = str(file.relative_to(folder))
        yield re.sub(r"[0-9a-f]{64}|(?<=-)[0-9a-f]{8}(?=\.)|(?<=tfevents\.).*", "…", name)
