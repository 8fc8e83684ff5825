"""Start a task of a model on a Ray cluster. This process imports no torch, and holds neither data nor model."""

from __future__ import annotations

from functools import partial
from typing import Any

from trainwright_trainer.backends.ray.cluster import cluster
from trainwright_trainer.backends.ray.nodes import resources_of_nodes
from trainwright_trainer.backends.ray.one_node import on_one_node
from trainwright_trainer.backends.ray.resources import Pool, pool_of
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.job.job import Job

_STORE_BYTES = 512 << 20
"""The object store of a Ray that is started here: it holds the blocks between the tasks and the actors."""


def on_ray(task: str, job: Job, console: Console) -> Any:
    """The result of a task of a model. It runs on a node with CPUs, because the head of a cluster has little memory."""
    section = job.spec.backend.trainer
    alone = job.attempt is not None
    with cluster(section, job.given_workers, alone=alone, log=console.log, store_bytes=_STORE_BYTES):
        pool = pool_of(section, job.given_workers, resources_of_nodes())
        found, lines = on_one_node(partial(_with_lines, task, job, pool), section.max_retries)
    console.log(*lines)
    return found


def _with_lines(task: str, job: Job, pool: Pool) -> tuple[Any, list[str]]:
    from trainwright_trainer.tasks.blocks_on_ray import BlocksOnRay
    from trainwright_trainer.tasks.of_a_model import OF_A_MODEL

    lines: list[str] = []
    return OF_A_MODEL[task](job, lambda *more: lines.extend(more), BlocksOnRay(job, pool)), lines
