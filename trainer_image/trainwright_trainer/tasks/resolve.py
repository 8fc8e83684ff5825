"""Values resolved from the job and its data before the first step: batch sizes, windows, threads, resolved.json."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from trainwright_api.config import ModelConfig
from trainwright_api.config.metric_names import DEFAULT_METRIC
from trainwright_trainer.callbacks import formats
from trainwright_trainer.callbacks.events import Started, best_of, rounds_of
from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.distributed.ranks import Ranks
from trainwright_trainer.job.batching import Batching, batching, needs_search, passes_of_a_step, search_limit
from trainwright_trainer.job.job import Job
from trainwright_trainer.job.versions import versions
from trainwright_trainer.layers.normalisation import norm_batches
from trainwright_trainer.loader.interface import Loader
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.loader.load import sizes
from trainwright_trainer.loader.window import row_bytes, window_rows
from trainwright_trainer.loop.batch_size_finder import BatchSize, candidates, fastest_batch_size
from trainwright_trainer.loop.monitor import monitored_metric, own_metrics
from trainwright_trainer.loop.schedule import plan
from trainwright_trainer.models.model import DTYPES, Model
from trainwright_trainer.models.multiplications import multiplications_of_a_row
from trainwright_trainer.rundir import shared_files
from trainwright_trainer.rundir.attempt import Attempt
from trainwright_trainer.runtime.memory import usable_bytes
from trainwright_trainer.runtime.threads import Threads
from trainwright_trainer.tasks.embeddings import check_embeddings, embedding_keys

_SAMPLE_ROWS = 8
"""The rows of the forward pass whose multiplications are counted."""


@dataclass(frozen=True)
class TrainContext:
    """The job, its data as columns, the attempt that owns the run folder, and the number of threads.

    `config` is the resolved config of the job.
    """

    config: ModelConfig
    job: Job
    data: Prepared
    attempt: Attempt
    threads: Threads


def given_batching(job: Job, model: Model) -> Batching | None:
    """The batch sizes of the config, or None if the batch size has to be searched for."""
    assert job.config is not None
    trainer = job.config.trainer
    return None if needs_search(trainer) else batching(trainer, job.workers, norm_batches(model))


@dataclass(frozen=True)
class Resolved:
    """Values that a run resolves once. `threads`: those that are asked for, or of an earlier attempt; None: not known
    before the model has its parameters. `window_rows`: the source rows of a window of the loader; None: no windows.

    `rows_per_second`: the speeds that the batch size search measured, by batch size; empty without a search.
    """

    batching: Batching
    threads: int | None
    rows_per_second: Mapping[int, float]
    window_rows: int | None

    def to_json(self) -> dict[str, Any]:
        speeds = {str(size): speed for size, speed in self.rows_per_second.items()}
        return {
            "batching": self.batching.to_json(),
            "threads": self.threads,
            "rows_per_second": speeds,
            "window_rows": self.window_rows,
        }


def resolved_once(
    context: TrainContext, model: Model, train: Loader, ranks: Ranks, log: Callable[[str], None]
) -> Resolved:
    """Resolve on rank 0, and share the result with all ranks. Values of an earlier attempt of this run are reused."""
    beside = ranks.beside()  # a search for the batch size may take longer than the other ranks wait in a step
    found = beside.share(_found(context, model, train, ranks, log) if ranks.rank == 0 else None)
    assert found is not None
    return found


def _found(context: TrainContext, model: Model, train: Loader, ranks: Ranks, log: Callable[[str], None]) -> Resolved:
    before = shared_files.read_resolved(context.attempt) or {}
    check_embeddings(before.get("embeddings", {}), context.data.statistics)
    batches, speeds = _batching_before(before) or _batching(context, model, train, ranks, log)
    window = before["window_rows"] if "window_rows" in before else window_of(context.job, context.config, context.data)
    if window is not None:
        log(f"loader: windows of {formats.count(window)} rows of the source")
    found = Resolved(batches, context.threads.asked or before.get("threads"), speeds, window)
    _write(context, ranks.device, found)
    return found


def threads_once(context: TrainContext, found: Resolved, model: Model, train: Loader, ranks: Ranks) -> int:
    """The number of threads that compute a step, the same on all ranks. Called when `model` has its parameters.

    The number that the user asks for comes before that of an earlier attempt of this run.
    """
    if found.threads is not None:
        return found.threads
    batches = found.batching
    a_row = multiplications_of_a_row(model, next(train.sequential(_SAMPLE_ROWS, 0, _SAMPLE_ROWS)), ranks.world)
    rows = min(batches.pass_rows, -(-min(batches.global_rows, len(train)) // ranks.world))
    trainer = context.config.trainer
    looks_up = ranks.device.type == "cpu" and not (trainer.compile or trainer.use_mixed_precision)
    spared = model.spared_multiplications(rows) if looks_up else 0
    threads = ranks.share(context.threads.of(a_row * rows - spared))
    if ranks.rank == 0:
        _write(context, ranks.device, replace(found, threads=threads))
    return threads


def _write(context: TrainContext, device: torch.device, found: Resolved) -> None:
    shared_files.write_resolved(context.attempt, _resolved(context, device, found), versions())


def window_of(job: Job, config: ModelConfig, data: Prepared) -> int | None:
    """The source rows of a window of the loader on this machine; None: no windows."""
    layout = layout_of(config, data.statistics)
    a_row = row_bytes(layout, DTYPES[config.trainer.precision], data.statistics)
    return window_rows(job.spec.backend.loader, a_row, usable_bytes())


def _batching_before(resolved: Mapping[str, Any]) -> tuple[Batching, Mapping[int, float]] | None:
    if "batching" not in resolved:
        return None
    speeds = resolved.get("rows_per_second", {})
    return Batching.from_json(resolved["batching"]), {int(size): speed for size, speed in speeds.items()}


def _batching(
    context: TrainContext, model: Model, train: Loader, ranks: Ranks, log: Callable[[str], None]
) -> tuple[Batching, Mapping[int, float]]:
    given = given_batching(context.job, model)
    return (given, {}) if given is not None else _searched(context, model, train, ranks, log)


def _searched(
    context: TrainContext, model: Model, train: Loader, ranks: Ranks, log: Callable[[str], None]
) -> tuple[Batching, Mapping[int, float]]:
    """Search for the batch size. Only rank 0 measures."""
    trainer, workers = context.config.trainer, context.job.workers
    found = fastest_batch_size(
        trainer,
        model,
        train,
        candidates(
            len(train) // passes_of_a_step(trainer, workers),
            search_limit(trainer, workers),
            on_cpu=ranks.device.type == "cpu",
        ),
        device=ranks.device,
    )
    log(_search_line(found))
    return batching(trainer, workers, norm_batches(model), found.size), found.speeds


def _search_line(found: BatchSize) -> str:
    """`batch_size auto: 256 rows, 52k rows/s (tried 16 to 1,024; the fastest is 1,024 rows, 61k rows/s)`."""
    speeds = found.speeds
    shown = [
        f"{formats.count(size)} rows, {formats.rate(speeds[size])} rows/s"
        for size in (found.size, max(speeds, key=speeds.__getitem__))
    ]
    tried = f"{formats.count(min(speeds))} to {formats.count(max(speeds))}"
    return f"batch_size auto: {shown[0]} (tried {tried}; the fastest is {shown[1]})"


def _resolved(context: TrainContext, device: torch.device, found: Resolved) -> dict[str, Any]:
    job, data = context.job, context.data
    return {
        "name": job.name,
        "task": job.task,
        "backend": job.spec.backend.type,
        "device": device.type,
        "workers": job.workers,
        "seed": job.spec.seed,
        "dataset": {"path": job.shown_dataset, "content": data.content, "cache": data.cache_key},
        **found.to_json(),
        "embeddings": embedding_keys(context.data.statistics),
        "checkpoint": job.spec.checkpoint.model_dump(mode="json", by_alias=True),
        "config": context.config.model_dump(mode="json"),
        "recipe": None if job.recipe is None else asdict(job.recipe),
    }


def started(context: TrainContext, loaders: Mapping[str, Loader], found: Resolved, threads: int, world: int) -> Started:
    """The first event of an attempt."""
    batches = found.batching
    trainer, data, start = context.config.trainer, context.data, context.attempt.start_from
    outputs = {feature.name: feature.type for feature in context.config.output_features}
    lengths = plan(trainer, len(loaders["train"]), batches.global_rows)
    own = own_metrics(context.config)
    return Started(
        name=context.job.name,
        rows=data.rows,
        split_rows=sizes(loaders),
        inputs=len(context.config.input_features),
        outputs=outputs,
        positive={name: data.statistics[name]["true"] for name, kind in outputs.items() if kind == "binary"},
        cache_key=data.cache_key,
        cache_hit=data.cache_hit,
        batch_size=batches.global_rows,
        optimizer=trainer.optimizer.type,
        learning_rate=batches.learning_rate,
        epochs=-(-lengths.total_steps // lengths.steps_per_epoch),
        steps_per_epoch=lengths.steps_per_epoch,
        threads=threads,
        validation_metric=monitored_metric(trainer, outputs, own).name,
        metrics={name: own.get(name) or DEFAULT_METRIC.get(kind, "loss") for name, kind in outputs.items()},
        attempt=context.attempt.number,
        epoch=start.position.epoch if start else 0,
        step=start.position.step if start else 0,
        processes=world,
        pass_rows=batches.pass_rows,
        learning_rate_factor=_factor(batches.learning_rate, trainer.learning_rate),
        total_steps=lengths.total_steps,
        tolerance=context.job.recipe.tolerance if context.job.recipe else 0.0,
        evaluates=not trainer.skip_all_evaluation,
        best=best_of(rounds_of(start.state["history"])) if start else None,
    )


def _factor(rate: float, given: float | str) -> float | None:
    return rate / given if isinstance(given, float) and given else None
