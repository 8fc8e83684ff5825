"""The processors of a run on Ray. `backend.processor.type` selects one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from trainwright_api.problems import Mistakes
from trainwright_api.resource.backend import Processor as ProcessorSection
from trainwright_trainer.backends.ray.one_node import nodes_with_cpus
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.frames.interface import Block, Clean, Processor, Source, Stage
from trainwright_trainer.frames.pandas import PandasProcessor

_EXTRAS = {"dask": "trainer", "modin": "trainer,modin"}
"""The extras of our package with the library of a processor."""


def check_processor(section: ProcessorSection) -> None:
    """Raise `Mistakes` if the processor needs a library that is not installed."""
    if section.type in _EXTRAS and find_spec(section.type) is None:
        command = f"pip install 'trainwright[{_EXTRAS[section.type]}]'"
        found = f"{section.type} is not installed here. Install it with: {command}"
        raise Mistakes.one("backend.processor.type", found)


def prepares_before_workers(section: ProcessorSection) -> bool:
    """True if the processor needs the CPUs of the cluster, so that the workers start after the data are prepared."""
    return section.type == "modin"


def processor_of(section: ProcessorSection) -> Processor:
    """The section's processor, in a process that has joined a cluster and has no workers beside it."""
    return PROCESSORS[section.type](section)


def processor_of_worker(section: ProcessorSection) -> Processor:
    """The section's processor in a worker of a run."""
    return _Absent() if prepares_before_workers(section) else processor_of(section)


def _pandas(_: ProcessorSection) -> Processor:
    return PandasProcessor()


def _dask(section: ProcessorSection) -> Processor:
    """Tasks of Dask as tasks of Ray, as many at a time as the cluster has CPUs."""
    from ray.util.dask import ray_dask_get

    from trainwright_trainer.frames.dask import DaskProcessor

    cpus = nodes_with_cpus()
    return DaskProcessor(
        {"scheduler": ray_dask_get},
        tasks=max(sum(cpus.values()), 1),
        start_options=_Placed(tuple(cpus)),
        parallelism=section.parallelism,
        persist=section.persist,
        lost=(RayError,),
    )


def _modin(_: ProcessorSection) -> Processor:
    """Tasks of Modin. Each takes a CPU, so Ray runs as many at a time as the cluster has CPUs, and none on its head."""
    cpus = sum(nodes_with_cpus().values())
    if not cpus:
        raise EnvironmentFailure("processor modin needs CPUs, and no node of the Ray cluster has one")
    from trainwright_trainer.frames.modin import ModinProcessor

    return ModinProcessor(ray.put, ray.get, tasks=cpus, lost=(RayError,))


class _Absent:
    """Stands for a processor that has prepared the data before the workers started."""

    def stage(self, source: Source[Block], clean: Callable[[Block], Clean]) -> Stage[Clean]:  # noqa: ARG002
        found = "modin prepares the data before the workers start, but a worker does not find them in its cache"
        raise Mistakes.one("backend.cache_dir", f"{found}. Name a place that all nodes share, or use processor dask.")


@dataclass(frozen=True)
class _Placed:
    """The options of a partition's tasks: on one of the `nodes`, so that a kept partition is mapped where it is.

    The workers of the run wait while the data are prepared, but hold their CPUs, so a task asks for none. `nodes` are
    those with CPUs: the head of a cluster has little memory. If a node is lost, its tasks run on another one.
    """

    nodes: tuple[str, ...]

    def __call__(self, number: int) -> Mapping[str, Any]:
        where = NodeAffinitySchedulingStrategy(self.nodes[number % len(self.nodes)], soft=True)
        # `ray_persist`: it returns before the result is there.
        return {"ray_remote_args": {"num_cpus": 0, "scheduling_strategy": where}, "ray_persist": True}


PROCESSORS: Mapping[str, Callable[[ProcessorSection], Processor]] = {"pandas": _pandas, "dask": _dask, "modin": _modin}
