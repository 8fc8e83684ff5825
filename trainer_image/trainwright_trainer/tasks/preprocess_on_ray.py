"""The task preprocess on a Ray cluster, with the processor of the file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from trainwright_api.resource.backend import BackendTrainer
from trainwright_api.resource.backend import Processor as ProcessorSection
from trainwright_trainer.backends.ray.cluster import cluster, resources_here
from trainwright_trainer.backends.ray.one_node import on_one_node
from trainwright_trainer.backends.ray.processors import check_processor, processor_of
from trainwright_trainer.callbacks.console import Console, notice_lines
from trainwright_trainer.frames.interface import Processor
from trainwright_trainer.frames.pandas import reading_with
from trainwright_trainer.job.job import Job
from trainwright_trainer.runtime.cpus import asked_threads, first_environment, usable_cpus
from trainwright_trainer.tasks.job_data import FilledCache, check_data, prepare_data


def fill_on_ray(job: Job, console: Console) -> FilledCache:
    """Fill the cache. The work is done on a node with CPUs, because the head of a cluster has little memory.

    Raises `Mistakes` before anything starts, if the library of the processor is not installed, and on this machine also
    those of the data set.
    """
    check_processor(job.spec.backend.processor)
    check_data_here(job)
    section = job.spec.backend.trainer
    without_gpus = BackendTrainer(use_gpu=False, max_retries=section.max_retries)
    with cluster(without_gpus, 1, alone=job.attempt is not None, log=console.log):
        return _filled_on_one_node(job)


def check_data_here(job: Job) -> None:
    """`check_data`, if Ray will start on this machine: its workers see the same files. Another Ray may have others."""
    if resources_here() is not None:
        check_data(job)


def fill_before_workers(job: Job, console: Console) -> list[str]:
    """Fill the cache before the workers of a run start, in a cluster that this process has joined.

    Returns the notices that were logged. The workers, which find the cache filled, have most of them too.
    """
    console.stage(f"preparing the data with {job.spec.backend.processor.type}")
    filled = _filled_on_one_node(job)
    lines = notice_lines(filled.notices, Path(job.shown_dataset).name)
    console.log(*lines, filled.line)
    return lines


def _filled_on_one_node(job: Job) -> FilledCache:
    return on_one_node(partial(_filled, job, processor_of), job.spec.backend.trainer.max_retries)


def _filled(job: Job, make: Callable[[ProcessorSection], Processor]) -> FilledCache:
    threads = job.options.threads or asked_threads(first_environment()) or usable_cpus()
    with reading_with(threads):
        return FilledCache.of(prepare_data(job, make(job.spec.backend.processor)))
