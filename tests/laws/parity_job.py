"""A job with every kind of output and all parts that rounding affects, and its training on one rank."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import torch
import torch.distributed as dist
from tests.checkpoints import reopened

from trainwright_api.config import ModelConfig, resolve
from trainwright_api.problems import Mistakes
from trainwright_api.resource.job import CheckpointPolicy
from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.callbacks.events import Evaluated, Event, RankRound
from trainwright_trainer.data.columnfile import Column
from trainwright_trainer.data.prepared import TRAIN, Columns, Prepared
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.distributed.ranks import OneRank, Ranks
from trainwright_trainer.job.batching import batching
from trainwright_trainer.layers.normalisation import norm_batches
from trainwright_trainer.loader.batch import ColumnRange, EncodedImages, Layout
from trainwright_trainer.loader.encoded_rows import EncodedRows
from trainwright_trainer.loader.epoch_order import EpochOrder
from trainwright_trainer.loader.interface import Loader
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.loader.load import decoding, epoch_order_of
from trainwright_trainer.loader.materialised import Materialised
from trainwright_trainer.loader.windowed import Windowed
from trainwright_trainer.loop import trainer as loop
from trainwright_trainer.loop.arguments import Hooks, TrainingArguments
from trainwright_trainer.loop.protocols import Checkpoints
from trainwright_trainer.loop.step_agreement import StepAgreement, StepLoss
from trainwright_trainer.loop.trainer import Trainer
from trainwright_trainer.metrics.model import model_metrics
from trainwright_trainer.models.model import DTYPES, Model
from trainwright_trainer.rundir.checkpoint import Checkpoint
from trainwright_trainer.rundir.snapshot import Snapshot
from trainwright_trainer.strategies import STRATEGIES, engine_for
from trainwright_trainer.strategies.interface import EngineFactory
from trainwright_trainer.strategies.single import Single

ROWS = {"train": 397, "validation": 83, "test": 61}
NUMBER = {"mean": 0.0, "std": 1.0, "normalization": None, "scale": 1.0, "shift": 0.0}
STATISTICS: Mapping[str, Mapping[str, Any]] = {
    "size": {"type": "number", **NUMBER},
    "open": {"type": "binary", "counts": [5, 5], "true": "yes", "false": "no"},
    "kind": {"type": "category", "vocabulary": ["<UNK>", "a", "b", "c"], "counts": [0, 4, 3, 3]},
    "tags": {
        "type": "set",
        "vocabulary": ["<UNK>", "x", "y", "z"],
        "counts": [0, 4, 3, 3],
        "length": 4,
        "padding": "right",
    },
    "words": {
        "type": "set",
        "vocabulary": ["<UNK>", "x", "y", "z"],
        "counts": [0, 40, 30, 30],
        "rows": 90,
        "missing": 0,
        "fill": None,
        "length": 4,
        "padding": "right",
    },
    "picture": {"type": "image", "channels": 3, "height": 12, "width": 12, "standardize": None, "length": 500.0},
    "late": {"type": "binary", "counts": [5, 5], "true": "yes", "false": "no"},
    "delay": {"type": "number", **NUMBER, "encoded": {"mean": 0.5, "std": 2.0}},
    "why": {"type": "category", "vocabulary": ["<UNK>", "a", "b", "c"], "counts": [0, 4, 3, 3]},
}
CONCAT = {"type": "concat", "num_fc_layers": 2, "output_size": 8}


@dataclass(frozen=True)
class Case:
    """The settings of a run: fields of the trainer and the combiner, the loss of the number, workers in the file.

    A combiner without a type is concat.

    `stop_at`: the step at which rank 0 requests a stop. `bad_row`: a training row with an infinite input. `slow_rank`:
    a rank that takes 20 ms longer for each pass. `copies`: the training rows with the same row number. `engine`: that
    of several ranks, or its strategy. `mutation`: an error in the run. `uses_strategy_alone`: a rank alone uses the
    strategy too, and not the engine of one process. `tags`: the type and the encoder of the ragged input.
    `words`: the type and the other fields of a ragged output, if there is one.
    `picture`: the fields of a further input, an image; None: there is none.
    """

    trainer: Mapping[str, Any] = field(default_factory=dict)
    combiner: Mapping[str, Any] = field(default_factory=dict)
    loss: str = "mean_squared_error"
    workers: int = 1
    stop_at: int | None = None
    every_seconds: float = 0
    bad_row: int | None = None
    slow_rank: int | None = None
    engine: EngineFactory | Strategy | str = "ddp"
    rows: Mapping[str, int] = field(default_factory=lambda: ROWS)
    has_class_weights: bool = False
    copies: int = 1
    window_rows: int | None = None
    mutation: Callable[[], AbstractContextManager[None]] = nullcontext
    device: str = "cpu"
    uses_strategy_alone: bool = False
    clock: Callable[[], float] = time.monotonic
    tags: Mapping[str, Any] = field(default_factory=lambda: {"type": "set", "encoder": {"embedding_size": 3}})
    words: Mapping[str, Any] | None = None
    picture: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Seen:
    """A run on one rank. `losses`: of every step; `logits`: of the test rows; `saved`: this rank's snapshots.

    A run that was stopped has neither logits nor weights.
    """

    reason: str
    losses: list[float]
    rounds: list[Evaluated]
    weights: dict[str, Any]
    logits: dict[str, Any]
    saved: list[Snapshot]
    ranks: list[tuple[RankRound, ...]]

    @property
    def scores(self) -> list[float]:
        """The scores of all rounds in one list."""
        parts = [part for one in self.rounds for part in one.scores.values()]
        return [value for part in parts for metrics in part.values() for value in metrics.values()]


def _recording(losses: list[float]) -> type[StepAgreement]:
    """An agreement that records the loss of every step."""

    class Recording(StepAgreement):
        def total(self) -> StepLoss:
            whole = super().total()
            losses.append(float(whole))
            return whole

    return Recording


class _Kept:
    def __init__(self) -> None:
        self.snapshots: list[Snapshot] = []

    def save(self, snapshot: Snapshot) -> None:
        self.snapshots.append(snapshot)


class _Recorder:
    def __init__(self) -> None:
        self.steps = 0
        self.ranks: list[tuple[RankRound, ...]] = []

    def on_event(self, event: Event) -> None:
        self.steps = getattr(event, "step", self.steps)
        if isinstance(event, Evaluated):
            self.ranks.append(event.ranks)

    def close(self) -> None: ...


def trained(
    case: Case, resume: Sequence[Snapshot] | Checkpoint | None = None, checkpoints: Checkpoints | None = None
) -> Seen:
    """Train on this rank, or in this process alone without a process group.

    `resume`: a checkpoint, or the snapshots of all ranks. `checkpoints`: None keeps the snapshots in memory.
    """
    ranks = ProcessGroup(case.device) if dist.is_initialized() else OneRank(case.device)
    losses: list[float] = []
    config = config_of(case)
    layout = layout_of(config, STATISTICS)
    model = Model(config, STATISTICS, layout, 7)
    if case.slow_rank == ranks.rank:
        model.register_forward_pre_hook(lambda *_: time.sleep(0.05))
    parts = {name: rows_of(case, name) for name in case.rows}
    parts["train"] = replace(parts["train"], rows=parts["train"].rows // case.copies)
    if case.bad_row is not None:
        parts["train"].floats[case.bad_row, 0] = math.inf
    order = epoch_order_of(config, layout, 7, case.window_rows)
    loaders = {name: _loader(case, held, order, ranks.device) for name, held in parts.items()}
    kept, recorder = _Kept(), _Recorder()
    batches = batching(config.trainer, case.workers, norm_batches(model))
    hooks = Hooks(
        [recorder],
        checkpoints or kept,
        stop=lambda: ranks.rank == 0 and case.stop_at is not None and recorder.steps >= case.stop_at,
        clock=case.clock,
    )
    with case.mutation(), patch.object(loop, "StepAgreement", _recording(losses)):
        trainer = Trainer(
            TrainingArguments(config, batches, 7, CheckpointPolicy(every_seconds=case.every_seconds)),
            model,
            loaders,
            partial(model_metrics, config, STATISTICS),
            ranks=ranks,
            make_engine=_engine(case, ranks),
            hooks=hooks,
            resume=resume if resume is None or isinstance(resume, Checkpoint) else reopened(*resume),
        )
        result = trainer.train()
    logits, weights = {}, {}
    if result.outcome.kind != "stopped":  # a model whose training was stopped may have no weights
        test = next(loaders["test"].sequential(case.rows["test"]))
        with torch.inference_mode():
            logits = {name: tensor.cpu().numpy() for name, tensor in model.eval()(test).items()}
        weights = {name: tensor.cpu().numpy().copy() for name, tensor in model.state_dict().items()}
    return Seen(result.outcome.reason, losses, list(result.history), weights, logits, kept.snapshots, recorder.ranks)


def _engine(case: Case, ranks: Ranks) -> EngineFactory:
    engine = Strategy.model_validate({"type": case.engine}) if isinstance(case.engine, str) else case.engine
    if isinstance(engine, Strategy) and case.uses_strategy_alone:
        return STRATEGIES[engine.type](engine)
    if isinstance(engine, Strategy):
        return engine_for(engine if dist.is_initialized() else None, ranks)
    return Single if ranks.world == 1 else engine


def all_trained(cases: Sequence[Case]) -> list[Seen]:
    """Train the cases one after the other."""
    return [trained(case) for case in cases]


def interrupted(case: Case) -> tuple[Seen, Seen, list[list[Snapshot]]]:
    """The run without a stop, the run that resumes after a stop, and the snapshots of all ranks at each checkpoint."""
    whole = trained(replace(case, stop_at=None))
    ranks: list[list[Snapshot]] = [[] for _ in range(dist.get_world_size())]
    dist.all_gather_object(ranks, trained(case).saved)
    saved = [list(one) for one in zip(*ranks, strict=True)]
    return whole, trained(replace(case, stop_at=None), saved[-1]), saved


def refused(case: Case) -> str:
    """The message of the mistake that the run raises on this rank."""
    try:
        trained(case)
    except Mistakes as mistakes:
        return str(mistakes)
    return "it was none"


def config_of(case: Case) -> ModelConfig:
    weighted = case.has_class_weights
    return resolve(
        ModelConfig.model_validate(
            {
                "input_features": [
                    {"name": "size", "type": "number"},
                    {"name": "open", "type": "binary"},
                    {"name": "kind", "type": "category"},
                    {"name": "tags", **case.tags},
                    *([] if case.picture is None else [{"name": "picture", "type": "image", **case.picture}]),
                ],
                "combiner": case.combiner if "type" in case.combiner else {**CONCAT, **case.combiner},
                "output_features": [
                    {"name": "late", "type": "binary", "loss": {"positive_class_weight": 2.0} if weighted else {}},
                    {"name": "delay", "type": "number", "loss": {"type": case.loss, "weight": 0.5}},
                    {
                        "name": "why",
                        "type": "category",
                        "loss": {"class_weights": [1.0, 0.5, 2.0, 1.5]} if weighted else {},
                    },
                    *([] if case.words is None else [{"name": "words", **case.words}]),
                ],
                "trainer": {"train_steps": 200, "learning_rate": 0.01, "precision": "float64", **case.trainer},
            }
        )
    )


def rows_of(case: Case, name: str) -> EncodedRows:
    """The rows of a part of the case."""
    rows, seed = case.rows[name], list(case.rows).index(name)
    dtype = DTYPES[config_of(case).trainer.precision]
    draws = np.random.default_rng(seed)
    size, noise = draws.normal(size=rows), draws.normal(size=rows)
    floats = np.stack([size, draws.integers(0, 2, rows), size + noise > 0, 3 * size + noise], 1)
    ints = np.stack([draws.integers(0, 4, rows), np.clip(size + noise + 2, 1, 3).astype(np.int64)], 1)
    numbers = np.arange(rows) + 1000 * seed
    sets = _sets(draws, rows)
    ragged = (sets,) if case.words is None else (sets, _shifted(sets))
    columns = layout_of(config_of(case), STATISTICS).images
    images = tuple(EncodedImages(_images(draws, size), column) for column in columns)
    return EncodedRows(torch.from_numpy(floats).to(dtype), torch.from_numpy(ints), numbers, ragged, images)


def _shifted(sets: pa.LargeListArray) -> pa.LargeListArray:
    """Rows of the same lengths, whose tokens depend on those of `sets`: the next larger token, or the unknown one."""
    return pa.LargeListArray.from_arrays(sets.offsets, pa.array((sets.flatten().to_numpy() + 1) % 4, pa.int32()))


def _images(draws: np.random.Generator, size: np.ndarray[Any, Any]) -> pa.LargeBinaryArray:
    """PNG files of 12 × 12 pixels, which are brighter in one half for a greater size."""
    pixels = draws.integers(0, 100, (len(size), 3, 12, 12), dtype=np.uint8)
    pixels[:, :, :, 6:] += np.clip(60 * size + 75, 0, 150).astype(np.uint8)[:, None, None, None]
    return pa.array([png_of(one) for one in pixels], pa.large_binary())


def png_of(pixels: np.ndarray[Any, Any]) -> bytes:
    """The PNG file of uint8 [channels, height, width]."""
    from PIL import Image

    file = BytesIO()
    plain = pixels[0] if len(pixels) == 1 else pixels.transpose(1, 2, 0)
    Image.fromarray(np.ascontiguousarray(plain)).save(file, "png")
    return file.getvalue()


def _sets(draws: np.random.Generator, rows: int) -> pa.LargeListArray:
    """Sets of up to four tokens; a sixteenth of them is empty."""
    return pa.array([np.flatnonzero(row) for row in draws.random((rows, 4)) < 0.5], pa.large_list(pa.int32()))


def _loader(case: Case, held: EncodedRows, order: EpochOrder, device: torch.device) -> Loader:
    """The loader of one part, with windows or in memory. With windows the rows are numbered from 0."""
    layout = layout_of(config_of(case), STATISTICS)
    if layout.images:
        return decoding(_loader_of_rows(case, held, order, None, layout), layout, order.seed, device)
    return _loader_of_rows(case, held, order, device, layout)


def _loader_of_rows(
    case: Case, held: EncodedRows, order: EpochOrder, device: torch.device | None, layout: Layout
) -> Loader:
    if case.window_rows is None:
        return Materialised(held, order, device)
    columns = {name: Column(pa.chunked_array([_column(held, place)])) for name, place in layout.columns.items()}
    splits = np.zeros(len(held), np.uint8)
    prepared = Prepared("x", len(held), splits, Columns(columns), {}, "", "", False)
    return Windowed(prepared, TRAIN, layout, held.floats.dtype, order, device)


def _column(held: EncodedRows, place: ColumnRange) -> pa.Array:
    if place.kind == "images":
        return held.images[place.start].contents
    if place.kind == "ragged":
        return held.ragged[place.start]
    return pa.array((held.floats if place.kind == "floats" else held.ints)[:, place.start].numpy())
