"""Start a task of a model on a Ray cluster. This process imports no torch, and holds neither data nor model."""

from __future__ import annotations

from functools import partial
from typing import Any

from trainwright_api.config import stored_config
from trainwright_trainer.backends.ray.cluster import cluster, resources_here
from trainwright_trainer.backends.ray.nodes import resources_of_nodes
from trainwright_trainer.backends.ray.one_node import on_one_node
from trainwright_trainer.backends.ray.resources import Pool, pool_of
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.data import source
from trainwright_trainer.data.selection import features_of, wanted_columns
from trainwright_trainer.job.job import Job
from trainwright_trainer.rundir.model_folder import load_facts
from trainwright_trainer.tasks.job_data import dataset_files

_STORE_BYTES = 512 << 20
"""The object store of a Ray that is started here: it holds the blocks between the tasks and the actors."""


def on_ray(task: str, job: Job, console: Console) -> Any:
    """The result of a task of a model. It runs on a node with CPUs, because the head of a cluster has little memory.

    Raises `Mistakes` before Ray starts on this machine, if there is no model or the data set lacks a column.
    """
    if resources_here() is not None:  # another Ray may have other files
        _check(task, job)
    section = job.spec.backend.trainer
    alone = job.attempt is not None
    with cluster(section, job.given_workers, alone=alone, log=console.log, store_bytes=_STORE_BYTES):
        pool = pool_of(section, job.given_workers, resources_of_nodes())
        found, lines = on_one_node(partial(_with_lines, task, job, pool), section.max_retries)
    console.log(*lines)
    return found


def _check(task: str, job: Job) -> None:
    model = load_facts(str(job.model), job.keys.artifacts, "model")
    features = features_of(stored_config(model.config), targets=task == "evaluate")
    source.check(dataset_files(job), wanted_columns(features, None))


def _with_lines(task: str, job: Job, pool: Pool) -> tuple[Any, list[str]]:
    from trainwright_trainer.tasks.blocks_on_ray import BlocksOnRay
    from trainwright_trainer.tasks.of_a_model import OF_A_MODEL

    lines: list[str] = []
    return OF_A_MODEL[task](job, lambda *more: lines.extend(more), BlocksOnRay(job, pool)), lines
