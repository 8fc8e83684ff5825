"""The processors of a run on Ray. `backend.processor.type` selects one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from trainwright_api.problems import Mistakes
from trainwright_api.resource.backend import Processor as ProcessorSection
from trainwright_trainer.backends.ray.one_node import nodes_with_cpus
from trainwright_trainer.errors import not_built
from trainwright_trainer.frames.interface import Processor
from trainwright_trainer.frames.pandas import PandasProcessor


def check_processor(section: ProcessorSection) -> None:
    """Raise `Mistakes` if the processor needs a library that is not installed."""
    if section.type == "dask" and find_spec("dask") is None:
        found = "dask is not installed here. Install it with: pip install 'trainwright[trainer]'"
        raise Mistakes.one("backend.processor.type", found)


def processor_of(section: ProcessorSection) -> Processor:
    """The section's processor, in a process that has joined a cluster. Raises `Mistakes` if this version lacks it."""
    if section.type not in PROCESSORS:
        raise not_built("backend.processor.type", section.type, ", ".join(PROCESSORS))
    return PROCESSORS[section.type](section)


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


PROCESSORS: Mapping[str, Callable[[ProcessorSection], Processor]] = {"pandas": _pandas, "dask": _dask}
