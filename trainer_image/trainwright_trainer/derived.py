"""What is derived from the job and its data before the first step: batch sizes, resolved.json, how a run begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from trainwright_trainer.batch_size_search import fastest_batch_size
from trainwright_trainer.batching import Batching, batching, needs_search, search_limit
from trainwright_trainer.job import Job
from trainwright_trainer.layers.normalisation import has_batch_norm
from trainwright_trainer.loader.materialised import Split, sizes
from trainwright_trainer.loop.decisive import decisive, own_metrics
from trainwright_trainer.loop.plan import plan
from trainwright_trainer.material import Material
from trainwright_trainer.model import Model
from trainwright_trainer.progress import formats
from trainwright_trainer.progress.events import Started
from trainwright_trainer.rundir import shared_files
from trainwright_trainer.strategies.interface import Strategy
from trainwright_trainer.strategies.single import Single
from trainwright_trainer.versions import versions


def given_batching(job: Job, model: Model) -> Batching | None:
    """None where the batch size is to be searched for."""
    assert job.config is not None
    trainer = job.config.trainer
    return None if needs_search(trainer) else batching(trainer, job.workers, whole=has_batch_norm(model))


def resolved_once(
    material: Material, model: Model, train: Split, strategy: Strategy, say: Callable[[str], None]
) -> Batching:
    """What an earlier attempt of this run derived is taken from it; a tuned batch size is never tuned again."""
    found = strategy.share(_found(material, model, train, strategy, say) if strategy.rank == 0 else None)
    assert found is not None
    return found


def _found(material: Material, model: Model, train: Split, strategy: Strategy, say: Callable[[str], None]) -> Batching:
    before = shared_files.read_resolved(material.attempt)
    found = Batching.from_json(before["batching"]) if before else _batching(material, model, train, strategy, say)
    shared_files.write_resolved(material.attempt, _resolved(material, strategy.device, found), versions())
    return found


def _batching(
    material: Material, model: Model, train: Split, strategy: Strategy, say: Callable[[str], None]
) -> Batching:
    given = given_batching(material.job, model)
    if given is not None:
        return given
    trainer, workers = material.config.trainer, material.job.workers
    alone = Single(strategy.device)
    size = fastest_batch_size(trainer, model, train, search_limit(trainer, workers), strategy=alone)
    say(f"batch_size auto: {formats.count(size)} rows are the fastest here")
    return batching(trainer, workers, size, whole=has_batch_norm(model))


def _resolved(material: Material, device: torch.device, batches: Batching) -> dict[str, Any]:
    job, data = material.job, material.data
    return {
        "name": job.name,
        "task": job.task,
        "backend": job.spec.backend.type,
        "device": device.type,
        "workers": job.workers,
        "seed": job.spec.seed,
        "dataset": {"path": job.dataset, "content": data.content, "cache": data.cache_key},
        "batching": batches.to_json(),
        "checkpoint": job.spec.checkpoint.model_dump(mode="json", by_alias=True),
        "config": material.config.model_dump(mode="json"),
    }


def started(material: Material, splits: Mapping[str, Split], batches: Batching, world: int) -> Started:
    """The first event of an attempt."""
    trainer, data, start = material.config.trainer, material.data, material.attempt.start_from
    outputs = {feature.name: feature.type for feature in material.config.output_features}
    lengths = plan(trainer, len(splits["train"]), batches.global_rows)
    return Started(
        name=material.job.name,
        rows=data.rows,
        split_rows=sizes(splits),
        inputs=len(material.config.input_features),
        outputs=outputs,
        cache_key=data.cache_key,
        cache_hit=data.cache_hit,
        batch_size=batches.global_rows,
        optimizer=trainer.optimizer.type,
        learning_rate=batches.learning_rate,
        epochs=-(-lengths.total_steps // lengths.steps_per_epoch),
        steps_per_epoch=lengths.steps_per_epoch,
        threads=torch.get_num_threads(),
        validation_metric=decisive(trainer, outputs, own_metrics(material.config)).name,
        attempt=material.attempt.number,
        epoch=start.snapshot.position.epoch if start else 0,
        step=start.snapshot.position.step if start else 0,
        processes=world,
        pass_rows=batches.pass_rows,
        learning_rate_factor=_factor(batches.learning_rate, trainer.learning_rate),
    )


def _factor(rate: float, given: float | str) -> float | None:
    return rate / given if isinstance(given, float) and given else None
